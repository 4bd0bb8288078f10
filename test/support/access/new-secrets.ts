import type { NewSecrets } from '../../../src/contexts/access/credentials/new-secrets.store.js';

/** NewSecrets without expiry. */
export function newSecretsInMemory(): NewSecrets {
  const kept = new Map<string, string>();
  const secrets: Pick<NewSecrets, 'obtain' | 'find'> = {
    obtain: async (id, generate) => {
      if (!kept.has(id)) kept.set(id, generate());
      return kept.get(id)!;
    },
    find: async (id) => kept.get(id) ?? null,
  };
  return secrets as NewSecrets;
}

import type { NewSecrets } from '../../../src/contexts/access/credentials/new-secrets.store.js';

/** {@link NewSecrets} that are kept until `forget`. */
export function newSecretsInMemory(): NewSecrets {
  const kept = new Map<string, string | null>();
  const secrets: Pick<NewSecrets, 'obtain' | 'find' | 'forget'> = {
    obtain: async (id, generate) => {
      if (!kept.has(id)) kept.set(id, generate());
      return kept.get(id)!;
    },
    find: async (id) => kept.get(id) ?? null,
    forget: async () => {
      for (const id of kept.keys()) kept.set(id, null);
    },
  };
  return secrets as NewSecrets;
}

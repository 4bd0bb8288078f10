import { DomainError } from '../../kernel/domain-error.js';

/** Throws `forbidden`, naming the first scope that is missing (admin-api.md 1). */
export function requireScopes(
  { scopes }: { readonly scopes: ReadonlySet<string> },
  required: readonly string[],
): void {
  const missing = required.find((scope) => !scopes.has(scope));
  if (missing !== undefined) throw new DomainError('forbidden', `The scope ${missing} is missing`);
}

import { DomainError } from '../../kernel/domain-error.js';

/** Throws `not_found` for a merchant out of the caller's reach (admin-api.md 1). */
export function requireReach(
  { merchants }: { readonly merchants: readonly string[] | null },
  merchantId: string | null,
  what: string,
): void {
  if (merchants !== null && (merchantId === null || !merchants.includes(merchantId)))
    throw DomainError.notFound(what);
}

/** Throws `forbidden` with the first missing scope (admin-api.md 1). */
export function requireScopes(
  { scopes }: { readonly scopes: ReadonlySet<string> },
  required: readonly string[],
): void {
  const missing = required.find((scope) => !scopes.has(scope));
  if (missing !== undefined) throw new DomainError('forbidden', `The scope ${missing} is missing`);
}

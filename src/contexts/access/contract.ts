/** What other contexts may know of access: the directory of exchange keys, published events, accepted commands, what verifies signatures, the form of callbacks, and the scopes of roles. */
export { leadsToApp } from './application/allow-lists.js';
export { bodyDigest, signerAmong } from './application/credential-secrets.js';
export {
  EXCHANGE_KEY_DIRECTORY,
  type ExchangeCaller,
  type ExchangeKeyDirectory,
  type KnownExchangeKey,
} from './application/credential-directory.js';
export type { MemoSigning } from './domain/credential-kinds.js';
export type { CredentialIssued } from './domain/credentials.js';
export type { PayPageSettings } from './domain/credential-kinds.js';
export { ROLES, ROLE_SCOPES, SCOPES, type Role, type Scope } from './domain/roles.js';
export { CredentialIndex } from './views/credentials.js';

export { leadsToApp } from './application/allow-lists.js';
export {
  EXCHANGE_KEY_DIRECTORY,
  type ExchangeCaller,
  type ExchangeKeyDirectory,
  type ExchangeKey as KnownExchangeKey,
} from './application/credential-directory.js';
export type { MemoSigning, PayPageSettings } from './domain/credential-kinds.js';
export type { CredentialIssued } from './domain/credentials.js';
export { ROLES, ROLE_SCOPES, SCOPES, type Role, type Scope } from './domain/roles.js';
export { CredentialIndex } from './views/credentials.js';

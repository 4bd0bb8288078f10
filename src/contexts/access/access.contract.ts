export { leadsToApp } from './credentials/allow-lists.service.js';
export {
  ExchangeKeyDirectory,
  type ExchangeCaller,
  type ExchangeKey as KnownExchangeKey,
} from './credentials/credential-directory.service.js';
export type { MemoSigning, PayPageSettings } from './credentials/credential-kinds.js';
export type { CredentialIssued } from './credentials/credentials.js';
export { ROLES, ROLE_SCOPES, SCOPES, type Role, type Scope } from './operators/roles.js';
export { CredentialIndex } from './credentials/credentials.view.js';

export { leadsToApp } from './credentials/allow-lists.service.js';
export {
  ExchangeKeyDirectory,
  type ExchangeCaller,
  type ExchangeKey as KnownExchangeKey,
} from './credentials/credential-directory.service.js';
export type { CredentialIssued } from './credentials/credentials.js';
export { SCOPES, type Role, type Scope } from './operators/roles.js';
export { CredentialIndex } from './credentials/credentials.view.js';

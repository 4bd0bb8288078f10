/** What other contexts may know of access: the directory of exchange keys, published events, accepted commands, what verifies signatures, the form of callbacks, and the scopes of roles. */
export { leadsToApp } from './application/allow-lists.js';
export { bodyDigest, isSignedBy, signerAmong } from './application/hmac.js';
export { IssueExchangeKey } from './application/exchange-key-commands.js';
export {
  EXCHANGE_KEY_DIRECTORY,
  type ExchangeCaller,
  type ExchangeKeyDirectory,
  type KnownExchangeKey,
} from './application/known-credentials.js';
export { CreateMerchantWithKey } from './application/merchant-commands.js';
export type { ExchangeKeyIssued, MemoSigning } from './domain/exchange-key.js';
export type { PayPageSettings } from './domain/exchange-key.js';
export { ROLES, ROLE_SCOPES, SCOPES, type Role, type Scope } from './domain/roles.js';
export { DirectoryView } from './views/directory.js';

/** What other contexts may know of merchants: published events, what they add up to, accepted commands, and the form of allow-lists. */
export { leadsToApp } from './application/embedding.js';
export { canonicalCidrs } from './application/ip-allow-list.js';
export { IssueMerchantKey, type IssuedKey } from './application/issue-merchant-key.js';
export { RegisterMerchant, type RegisteredMerchant } from './application/register-merchant.js';
export { merchant, MERCHANT_EVENTS } from './domain/merchant.js';
export type {
  MerchantEmbeddingSet,
  MerchantEvent,
  MerchantIpAllowListSet,
  MerchantKeyIssued,
  MerchantKeyRevoked,
  MerchantRegistered,
  MerchantReinstated,
  MerchantSuspended,
} from './domain/merchant.js';

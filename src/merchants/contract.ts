/** What other contexts may know of merchants: published events and accepted commands. */
export type {
  MerchantEvent,
  MerchantIpAllowListSet,
  MerchantKeyIssued,
  MerchantKeyRevoked,
  MerchantRegistered,
  MerchantReinstated,
  MerchantSuspended,
} from './domain/merchant.js';

/** What the edge must know of a merchant. */
export interface MerchantCredentials {
  readonly merchantId: string;
  /** One or, during a rotation, two private keys; the HMAC key is the UTF-8 bytes of each. */
  readonly privateKeys: readonly string[];
  readonly status: 'active' | 'suspended';
  /** CIDRs the merchant calls from; empty means anywhere. */
  readonly ipAllowList: readonly string[];
  /** A key (a uuid) whose requests, responses and Idempotency-Keys are kept apart from the merchant's others. */
  readonly callerId?: string;
  /** What requests are counted as in place of `callerId`, when nothing shows that the key's owner sent them. */
  readonly countedAs?: string;
}

/** Whose the request is: the merchant's key where it has several that are kept apart, else the merchant. */
export function callerOf({ callerId, merchantId }: MerchantCredentials): string {
  return callerId ?? merchantId;
}

/** What pages of the merchant's users must know of it, besides. */
export interface KnownMerchant extends MerchantCredentials {
  /** What people read for it. */
  readonly shownAs: string;
  /** Origins that may show these pages in a frame; empty: none was named. */
  readonly origins: readonly string[];
  /** Where these pages may lead back to, origins or schemes of apps with their colon; empty: nothing was named. */
  readonly callbacks: readonly string[];
}

/** Where an API key is looked up; the access context provides it. Asked on every request: keep it cached. */
export interface MerchantDirectory {
  find(apiKey: string): Promise<KnownMerchant | null>;
}

/** Nest injection token of the {@link MerchantDirectory}. */
export const MERCHANT_DIRECTORY = Symbol('MERCHANT_DIRECTORY');

/** What the edge must know of a merchant. */
export interface ApiCaller {
  readonly merchantId: string;
  /** One or, during a rotation, two private keys; the HMAC key is the UTF-8 bytes of each. */
  readonly privateKeys: readonly string[];
  /** The id of each of {@link privateKeys}. */
  readonly privateKeyIds?: readonly string[];
  readonly status: 'active' | 'suspended';
  /** CIDRs the merchant calls from; empty means anywhere. */
  readonly ipAllowList: readonly string[];
  /** Of the merchant; null or absent: the default. */
  readonly requestsPerMinute?: number | null;
  /** A key (a uuid) whose requests, responses and Idempotency-Keys are kept apart from the merchant's others. */
  readonly callerId?: string;
  /** What requests are counted as in place of `callerId`, when nothing shows that the key's owner sent them. */
  readonly countedAs?: string;
}

/** What pages of the merchant's users must know of it, besides. */
export interface KnownMerchant extends ApiCaller {
  /** Its name on pages. */
  readonly displayName: string;
  /** Origins that may show these pages in a frame; empty: none was named. */
  readonly origins: readonly string[];
  /** Where these pages may lead back to, origins or schemes of apps with their colon; empty: nothing was named. */
  readonly callbacks: readonly string[];
}

/** Finds a merchant by API key; the access context provides it. Every request calls it: it caches. */
export interface MerchantDirectory {
  find(apiKey: string): Promise<KnownMerchant | null>;
}

/** Nest injection token of the {@link MerchantDirectory}. */
export const MERCHANT_DIRECTORY = Symbol('MERCHANT_DIRECTORY');

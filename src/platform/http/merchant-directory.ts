/** The part of a merchant that the edge needs. */
export interface ApiCaller {
  readonly merchantId: string;
  /** One or, during a rotation, two private keys; the HMAC key is the UTF-8 bytes of each. */
  readonly privateKeys: readonly string[];
  /** The id of each of {@link privateKeys}. */
  readonly privateKeyIds?: readonly string[];
  readonly status: 'active' | 'suspended';
  /** CIDRs the merchant calls from; empty means anywhere. */
  readonly ipAllowList: readonly string[];
  /** The merchant's limit; null or absent for the default. */
  readonly requestsPerMinute?: number | null;
  /** A key (a uuid) whose requests, responses and Idempotency-Keys are kept apart from the merchant's others. */
  readonly callerId?: string;
  /** The name under which requests count in place of `callerId`, when they may not come from the key's owner. */
  readonly countedAs?: string;
}

/** The part of a merchant that pages of its users need. */
export interface MerchantProfile extends ApiCaller {
  /** The name on pages. */
  readonly displayName: string;
  /** Origins that may show these pages in a frame; empty: none was named. */
  readonly origins: readonly string[];
  /**
   * The origins or schemes of apps, with their colon, to which these pages may lead back; empty when none were named.
   */
  readonly callbacks: readonly string[];
}

/** Finds a merchant by API key; the access context provides it. Every request calls it: it caches. */
export interface MerchantDirectory {
  find(apiKey: string): Promise<MerchantProfile | null>;
}

/** Nest injection token of the {@link MerchantDirectory}. */
export const MERCHANT_DIRECTORY = Symbol('MERCHANT_DIRECTORY');

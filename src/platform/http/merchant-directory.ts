/** The merchant that sends a request to an API, and its key in an API with several keys per merchant. */
export interface ApiCaller {
  readonly merchantId: string;
  /** The signing keys: one, or two during a rotation. The HMAC key is the UTF-8 bytes of each. */
  readonly privateKeys: readonly string[];
  /** The ids of `privateKeys`, in the same order. */
  readonly privateKeyIds?: readonly string[];
  readonly status: 'active' | 'suspended';
  /** The CIDRs of the permitted addresses; empty if any address is permitted. */
  readonly ipAllowList: readonly string[];
  /** The merchant's rate limit; null or absent for the default. */
  readonly requestsPerMinute?: number | null;
  /** The id of a key with its own rate limit and Idempotency-Keys. */
  readonly callerId?: string;
  /** Replaces `callerId` in the rate limit of a request that may not come from the key's owner. */
  readonly countedAs?: string;
}

/** A merchant, with the settings of the pages for its users. */
export interface MerchantProfile extends ApiCaller {
  /** The name on pages, or the merchant's name if none is set for pages. */
  readonly name: string;
  /** Origins that may embed the pages; empty if none is set. */
  readonly origins: readonly string[];
  /** Origins, or app schemes with their colon, to which the pages may return; empty if none is set. */
  readonly callbacks: readonly string[];
}

/** Finds a merchant by API key, from a cache. The access context provides it. */
export abstract class MerchantDirectory {
  abstract find(apiKey: string): Promise<MerchantProfile | null>;
}

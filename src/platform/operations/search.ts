import { methodDecorator } from '../discovered-methods.js';

/** An operator's search (admin-api.md 3). */
export interface SearchQuery {
  /** The trimmed text. */
  readonly text: string;
  /** The text as a UUID in lower case, or null. */
  readonly uuid: string | null;
  /** The text as a phone number in E.164, or null. */
  readonly phoneNumber: string | null;
  /** The merchants within the caller's reach; null for all. */
  readonly merchants: readonly string[] | null;
  /** The maximum number of results. */
  readonly limit: number;
}

export interface Found {
  /** `merchant`, `credential`, `operator`, `user`, `payout`, `order`, `webhook_endpoint`, `delivery`, `request`, `operation`. */
  readonly kind: string;
  readonly id: string;
  readonly merchant_id: string | null;
  /** One line without personal data. */
  readonly title: string;
}

/**
 * Declares a search for exact matches, with its scope. A search that may find more than `limit` must filter by
 * `merchants` itself.
 */
export const Searches = methodDecorator<string, (query: SearchQuery) => Promise<readonly Found[]>>();

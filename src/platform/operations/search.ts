import { methodDecorator } from '../discovered-methods.js';

/** An operator's search (admin-api.md 3). */
export interface SearchQuery {
  readonly text: string;
  /** The text as a UUID in lower case, or null. */
  readonly uuid: string | null;
  /** The text as a phone number in E.164, or null. */
  readonly phoneNumber: string | null;
  /** The merchants within the caller's reach; null for all. */
  readonly merchants: readonly string[] | null;
  readonly limit: number;
}

export interface Found {
  /**
   * The type: `merchant`, `credential`, `operator`, `user`, `payout`, `order`, `webhook_endpoint`,
   * `delivery`, `request` or `operation`.
   */
  readonly kind: string;
  readonly id: string;
  readonly merchant_id: string | null;
  /** A line without personal data. */
  readonly title: string;
}

/** Declares a search by its scope. It must filter by `merchants` if more than `limit` rows could match. */
export const Searches = methodDecorator<string, (query: SearchQuery) => Promise<readonly Found[]>>();

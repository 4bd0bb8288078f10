import { methodDecorator } from '../discovered-methods.js';

/** An operator's search (admin-api.md 3). */
export interface SearchQuery {
  /** The text as sent, without blanks around it. */
  readonly text: string;
  /** The text as a UUID in lower case, or null. */
  readonly uuid: string | null;
  /** The text as a phone number in E.164, or null. */
  readonly phoneNumber: string | null;
  /** The merchants that the caller is confined to; null: all. */
  readonly merchants: readonly string[] | null;
  /** Results that the response has room for. */
  readonly limit: number;
}

export interface Found {
  /** `merchant`, `credential`, `operator`, `user`, `payout`, `order`, `webhook_endpoint`, `delivery`, `request`, `operation`. */
  readonly kind: string;
  readonly id: string;
  /** The merchant of the result, or null. */
  readonly merchant_id: string | null;
  /** One line for people; never personal. */
  readonly title: string;
}

/**
 * Declares a method that finds exact matches for `GET /admin/v1/search`, with the scope that callers need. What belongs to
 * other merchants than `merchants` is left out afterwards; where there may be more than `limit`, before.
 */
export const Searches = methodDecorator<string, (query: SearchQuery) => Promise<readonly Found[]>>();

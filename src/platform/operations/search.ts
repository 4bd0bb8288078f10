import { methodDecorator } from '../discovered-methods.js';

/** What an operator searches for (admin-api.md 3). */
export interface SearchQuery {
  /** As it was sent, without blanks around it. */
  readonly text: string;
  /** In lower case, where the text is a uuid. */
  readonly uuid: string | null;
  /** In E.164, where the text is a phone number. */
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
  /** Null for what is of no merchant. */
  readonly merchant_id: string | null;
  /** One line for people; never personal. */
  readonly title: string;
}

/**
 * Declares a method that finds exact matches for `GET /admin/v1/search`, with the scope that callers need. What belongs to
 * other merchants than `merchants` is left out afterwards; where there may be more than `limit`, before.
 */
export const Searches = methodDecorator<string, (query: SearchQuery) => Promise<readonly Found[]>>();

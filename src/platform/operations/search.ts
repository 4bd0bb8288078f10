/** What an operator searches for (admin-api.md 3). */
export interface SearchText {
  /** As it was sent, without blanks around it. */
  readonly text: string;
  /** In lower case, where the text is a uuid. */
  readonly uuid: string | null;
  /** In E.164, where the text is a phone number. */
  readonly phoneNumber: string | null;
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

/** Exact matches in one context. */
export interface Search {
  /** Callers without it do not get what is found. */
  readonly scope: string;
  /** At most a page of results: more are cut off. */
  readonly find: (query: SearchText) => Promise<readonly Found[]>;
}

/** How a receiver responds. */
export type Manner =
  /** 204 at once. */
  | 'prompt'
  /** 200 after 50 to 500 ms. */
  | 'slow'
  /** The first one to three tries of a third of the deliveries are refused: 500, 503, a reset, or a response cut off. */
  | 'flaky'
  /** Reads the request and never responds. */
  | 'hangs'
  /** Returns 200 and then a byte per second, without end. */
  | 'drips'
  /** Has a name whose DNS servers never respond: nothing ever comes. */
  | 'unresolved';

/** One registered endpoint, at `/<place>` of the receivers. */
export interface Hook {
  readonly place: number;
  readonly endpointId: string;
  readonly merchantId: string;
  readonly secret: string;
  readonly manner: Manner;
}

/** What came for one webhook-id. */
export interface Arrived {
  readonly webhookId: string;
  readonly place: number;
  /** SHA-256 of the body as base64; a repeat with another body is a fault. */
  readonly bodyHash: string;
  /** Unix milliseconds, with fractions, at which each request was complete. */
  readonly at: readonly number[];
  /** Requests that got a whole 2xx. */
  readonly accepted: number;
}

/** Everything a receiver process saw. */
export interface Seen {
  readonly arrived: readonly Arrived[];
  /** Requests that no delivery explains, at most a hundred: wrong place, wrong signature, wrong id. */
  readonly faults: readonly string[];
  /** The most requests that were open at once, by place. */
  readonly mostOpen: Readonly<Record<number, number>>;
}

export type ToReceiver =
  | { readonly kind: 'hooks'; readonly hooks: readonly Hook[] }
  | { readonly kind: 'count' }
  | { readonly kind: 'seen' };

export type FromReceiver =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'ready' }
  /** Different webhook-ids that were accepted so far. */
  | { readonly kind: 'count'; readonly accepted: number }
  | { readonly kind: 'seen'; readonly seen: Seen };

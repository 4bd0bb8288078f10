import type { TrackedItem } from '../batches/event-batch.js';

/** An event for an analytics provider, which ignores repeated event_ids. Merchants share one project. */
export interface AnalyticsEvent extends TrackedItem {
  readonly merchant_id: string;
}

export interface Unavailable {
  readonly outcome: 'unavailable';
  /** `failing`: 5xx or an unreadable response. */
  readonly cause:
    'unreachable' | 'timeout' | 'failing' | 'rate_limited' | 'unauthorized' | 'misconfigured' | 'forbidden';
  /** A sentence for operators, without secrets. */
  readonly detail: string;
  readonly retryAfterMs: number | null;
}

export type SendResult =
  | { readonly outcome: 'accepted' }
  /**
   * No event was accepted, because of the listed ones; the others may be sent again at once. A reason, such as
   * `invalid time`, contains no personal data. `waitMs` is the pause for the event's user or device.
   */
  | {
      readonly outcome: 'parted';
      readonly refused: readonly { readonly index: number; readonly reason: string }[];
      readonly throttled: readonly { readonly index: number; readonly waitMs: number }[];
    }
  | { readonly outcome: 'rejected'; readonly reason: string }
  /** The provider accepts no request of this size; its halves may be sent at once. */
  | { readonly outcome: 'too_large' }
  | Unavailable;

/** The analytics provider. Its token provides null where none is configured. */
export abstract class Analytics {
  abstract readonly name: string;
  abstract readonly limits: { readonly events: number; readonly bytes: number };
  /** Sends 1 or more events in one request, within a deadline. Never rejects. */
  abstract send(events: readonly AnalyticsEvent[]): Promise<SendResult>;
}

import type { TrackedItem } from '../batches/event-batch.js';

/** An event to forward. The provider ignores repeated event ids. All merchants share one project. */
export interface AnalyticsEvent extends TrackedItem {
  readonly merchant_id: string;
}

export interface Unavailable {
  readonly outcome: 'unavailable';
  /** `failing` means 408, 5xx or an unreadable response. */
  readonly cause:
    'unreachable' | 'timeout' | 'failing' | 'rate_limited' | 'unauthorized' | 'misconfigured' | 'forbidden';
  /** An explanation for operators, without secrets. */
  readonly detail: string;
  readonly retryAfterMs: number | null;
}

export type SendResult =
  | { readonly outcome: 'accepted' }
  /** The request was refused because of the listed events. The other events may be sent again at once. */
  | {
      readonly outcome: 'parted';
      /** A `reason` contains no personal data. */
      readonly refused: readonly { readonly index: number; readonly reason: string }[];
      /** `waitMs` is the pause of the event's user or device. */
      readonly throttled: readonly { readonly index: number; readonly waitMs: number }[];
    }
  | { readonly outcome: 'rejected'; readonly reason: string }
  /** The provider accepts no request of this size; its halves may be sent at once. */
  | { readonly outcome: 'too_large' }
  | Unavailable;

/** The analytics provider. Nest injects null if no provider is configured. */
export abstract class Analytics {
  abstract readonly name: string;
  abstract readonly limits: { readonly events: number; readonly bytes: number };
  /** Sends 1 or more events in one request, within a deadline. Never rejects. */
  abstract send(events: readonly AnalyticsEvent[]): Promise<SendResult>;
}

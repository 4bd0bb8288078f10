import type { TrackedItem } from '../domain/event-batch.js';

/** An event for an analytics provider, which ignores a repeat of the event_id. Merchants share one of its projects. */
export interface AnalyticsEvent extends TrackedItem {
  readonly merchant_id: string;
}

/** The provider accepts nothing now. */
export interface Unavailable {
  readonly outcome: 'unavailable';
  readonly cause:
    | 'unreachable'
    | 'timeout'
    /** 5xx, or a response that cannot be read. */
    | 'failing'
    /** It limits the whole project. */
    | 'rate_limited'
    /** The key or the URL is wrong. */
    | 'unauthorized'
    | 'misconfigured'
    /** It blocks this service. */
    | 'forbidden';
  /** A short sentence for operators, without secrets. */
  readonly detail: string;
  /** Requested by the provider. */
  readonly retryAfterMs: number | null;
}

/** The result of one request. */
export type SendResult =
  | { readonly outcome: 'accepted' }
  /**
   * None was accepted because of the named ones, one or more, by their indexes; the others may be sent again at once.
   * Reasons are the provider's, without personal data, such as `invalid time`. `waitMs`: until then no event of the user or
   * device should be sent.
   */
  | {
      readonly outcome: 'parted';
      readonly refused: readonly { readonly index: number; readonly reason: string }[];
      readonly throttled: readonly { readonly index: number; readonly waitMs: number }[];
    }
  | { readonly outcome: 'too_large' }
  /** A rejection that does not name the cause. */
  | { readonly outcome: 'rejected'; readonly reason: string }
  | Unavailable;

export interface Analytics {
  readonly name: string;
  /** The most events and bytes of one request. */
  readonly limits: { readonly events: number; readonly bytes: number };
  /** Sends the events, 1 or more, in one request, within a deadline. Never rejects. */
  send(events: readonly AnalyticsEvent[]): Promise<SendResult>;
}

/** The token of the provider; null when none is configured. */
export const ANALYTICS = Symbol('ANALYTICS');

/** An event as an analytics provider gets it. */
export interface AnalyticsEvent {
  /** The event_id: a provider that gets it again ignores it. */
  readonly insertId: string;
  /** `<merchant_id>:<user_external_id>`: merchants share one project of the provider. */
  readonly userId: string;
  /** As the merchant sent it. */
  readonly deviceId: string | null;
  /** The event_name, lower-cased. */
  readonly eventType: string;
  /** Unix milliseconds of the event_datetime. */
  readonly time: number;
  /** JSON text of an object, exactly as it was sent. */
  readonly payload: string;
}

/** Why the provider accepts nothing now. */
export type UnavailableCause =
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

/** One event of a request; `index` counts the events of the request from 0. */
export interface RefusedEvent {
  readonly index: number;
  /** In the provider's terms, without personal data, such as `invalid time`. */
  readonly reason: string;
}

export interface ThrottledEvent {
  readonly index: number;
  /** Milliseconds in which no event of its user or device should be sent. */
  readonly waitMs: number;
}

/** The result of one request. */
export type SendResult =
  | { readonly outcome: 'accepted' }
  /** None was accepted because of the named ones; the others may be sent again at once. */
  | {
      readonly outcome: 'parted';
      readonly refused: readonly RefusedEvent[];
      readonly throttled: readonly ThrottledEvent[];
    }
  | { readonly outcome: 'too_large' }
  /** Without naming the cause. */
  | { readonly outcome: 'rejected'; readonly reason: string }
  | {
      readonly outcome: 'unavailable';
      readonly cause: UnavailableCause;
      /** For operators: a short sentence without secrets. */
      readonly detail: string;
      /** Requested by the provider. */
      readonly retryAfterMs: number | null;
    };

export interface Analytics {
  readonly name: string;
  /** The most events and bytes of one request. */
  readonly limits: { readonly events: number; readonly bytes: number };
  /** Sends the events, 1 or more, in one request, within a deadline. Never rejects. */
  send(events: readonly AnalyticsEvent[]): Promise<SendResult>;
}

/** Null when no provider is configured. */
export const ANALYTICS = Symbol('ANALYTICS');

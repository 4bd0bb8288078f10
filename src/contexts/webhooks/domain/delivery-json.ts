export const DELIVERY_STATUSES = ['pending', 'succeeded', 'exhausted', 'dropped'] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** A delivery as lists show it; an extension of the specification. Times are ISO 8601 in UTC. */
export interface DeliveryJson {
  /** The `webhook-id` header. */
  readonly id: string;
  readonly webhook_endpoint_id: string;
  readonly type: string;
  readonly status: DeliveryStatus;
  readonly attempt_count: number;
  readonly created_at: string;
  /** Null unless pending; in the past while an attempt is under way. */
  readonly next_attempt_at: string | null;
  /** Null while pending. */
  readonly finished_at: string | null;
}

/** One attempt of a delivery, as its merchant may see it. */
export interface AttemptJson {
  /** From 1, counted on over resends. */
  readonly attempt: number;
  readonly started_at: string;
  readonly latency_ms: number;
  readonly outcome: 'succeeded' | 'failed';
  readonly http_status: number | null;
  /** Where it broke before there was an answer. */
  readonly error_class: string | null;
  readonly error: string | null;
  /** The first KiB of the answer, as UTF-8. */
  readonly response_excerpt: string | null;
}

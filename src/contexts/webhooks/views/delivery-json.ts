export const DELIVERY_STATUSES = ['pending', 'succeeded', 'exhausted', 'dropped'] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The newest attempts of a delivery in the API: after many resends there may be more. */
export const LISTED_ATTEMPTS = 1000;

/** A delivery as lists return it; an extension of the specification. */
export interface DeliveryJson {
  readonly id: string;
  readonly webhook_endpoint_id: string;
  readonly type: string;
  readonly status: DeliveryStatus;
  readonly attempt_count: number;
  readonly created_at: string;
  readonly next_attempt_at: string | null;
  readonly finished_at: string | null;
}

export interface AttemptJson {
  readonly attempt: number;
  readonly started_at: string;
  readonly latency_ms: number;
  readonly outcome: 'succeeded' | 'failed';
  readonly http_status: number | null;
  readonly error_class: string | null;
  readonly error: string | null;
  readonly response_excerpt: string | null;
}

export const DELIVERY_COLUMNS =
  'delivery_id, endpoint_id, type, state, attempts, created_at, due_at, finished_at' as const;

export interface DeliveryColumns {
  readonly [column: string]: unknown;
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly type: string;
  readonly state: DeliveryStatus;
  readonly attempts: number;
  readonly created_at: Date;
  readonly due_at: Date;
  readonly finished_at: Date | null;
}

export function deliveryJson(row: DeliveryColumns): DeliveryJson {
  return {
    id: row.delivery_id,
    webhook_endpoint_id: row.endpoint_id,
    type: row.type,
    status: row.state,
    attempt_count: row.attempts,
    created_at: row.created_at.toISOString(),
    next_attempt_at: row.state === 'pending' ? row.due_at.toISOString() : null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

import type { DeliveryJson, DeliveryStatus } from '../domain/delivery-json.js';

/** What {@link deliveryJson} needs of a row of `webhooks.deliveries`. */
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

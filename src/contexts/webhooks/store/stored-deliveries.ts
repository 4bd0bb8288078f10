import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { DeliveryStatus } from '../domain/retry.js';

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

export type DeliveryJson = ReturnType<typeof deliveryJson>;

/** A delivery as lists return it; an extension of the specification. */
export function deliveryJson(row: DeliveryColumns) {
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

export interface FoundDelivery {
  readonly json: DeliveryJson;
  /** The exact text that is signed and sent. */
  readonly body: string;
  readonly isTest: boolean;
  readonly inFlight: boolean;
}

@Injectable()
export class StoredDeliveries {
  constructor(private readonly database: Database) {}

  /** One delivery of the merchant, also of an endpoint that was deleted; null when there is none. */
  async find(merchantId: string, deliveryId: string): Promise<FoundDelivery | null> {
    const [row] = await this.database.query<
      DeliveryColumns & { readonly body: string; readonly is_test: boolean; readonly in_flight: boolean }
    >(
      `select ${DELIVERY_COLUMNS}, body, is_test, leased_by is not null as in_flight
       from webhooks.deliveries where delivery_id = $1 and merchant_id = $2`,
      [deliveryId, merchantId],
    );
    if (!row) return null;
    return { json: deliveryJson(row), body: row.body, isTest: row.is_test, inFlight: row.in_flight };
  }
}

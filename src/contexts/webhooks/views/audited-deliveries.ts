import type { CheckedTables } from '../../../platform/context.js';

export interface AuditedDelivery {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly type: string;
  readonly body: string;
  readonly is_test: boolean;
  readonly state: string;
  readonly attempts: number;
  readonly created_at: Date;
  readonly finished_at: Date | null;
  readonly due_at: Date;
  readonly resent_position: string | null;
}

export interface AuditedAttempt {
  readonly delivery_id: string;
  readonly attempt: number;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly outcome: string;
  readonly http_status: number | null;
  readonly failure_phase: string | null;
  readonly error: string | null;
}

export class AuditedDeliveries {
  constructor(private readonly query: CheckedTables['query']) {}

  /** Those with these ids that are still kept, oldest first. */
  withIds(ids: readonly string[]): Promise<readonly AuditedDelivery[]> {
    return this.query<AuditedDelivery>(
      `select delivery_id, endpoint_id, merchant_id, type, body, is_test, state, attempts, created_at, finished_at,
         due_at, resent_position
       from webhooks.deliveries where delivery_id = any($1::uuid[]) order by created_at, delivery_id`,
      [ids],
    );
  }

  attempts(deliveryIds: readonly string[]): Promise<readonly AuditedAttempt[]> {
    return this.query<AuditedAttempt>(
      `select delivery_id, attempt, started_at, duration_ms, outcome, http_status, failure_phase, error
       from webhooks.attempts where delivery_id = any($1::uuid[]) order by delivery_id, attempt`,
      [deliveryIds],
    );
  }
}

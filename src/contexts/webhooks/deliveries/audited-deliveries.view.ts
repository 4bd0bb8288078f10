import type { CheckedTables } from '../../../platform/context.js';

export interface DeliveryRecord {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly type: string;
  readonly body: string;
  readonly is_test: boolean;
  readonly state: string;
  readonly attempts: number;
  readonly attempt_list: readonly { readonly http_status: number | null; readonly error: string | null }[];
}

/** Returns the retained deliveries with these ids, oldest first. */
export function readDeliveries(
  query: CheckedTables['query'],
  ids: readonly string[],
): Promise<readonly DeliveryRecord[]> {
  return query<DeliveryRecord>(
    `select delivery_id, endpoint_id, merchant_id, type, body, is_test, state, attempts, created_at, finished_at,
       due_at, resent_position, coalesce((
         select json_agg(a order by attempt)
         from (select attempt, started_at, duration_ms, outcome, http_status, failure_phase, error
               from webhooks.attempts where attempts.delivery_id = deliveries.delivery_id) a), '[]') as attempt_list
     from webhooks.deliveries where delivery_id = any($1::uuid[]) order by created_at, delivery_id`,
    [ids],
  );
}

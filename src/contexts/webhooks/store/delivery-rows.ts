import type { PoolClient } from 'pg';
import { columnArrays } from '../../../platform/postgres/batches.js';

/** A delivery to make: a row of `webhooks.deliveries`. */
export interface DeliveryRow {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly type: string;
  readonly body: string;
  readonly is_test: boolean;
  readonly mac: string;
  readonly traceparent: string | null;
  /** `dropped`: the endpoint was disabled when it happened; only a resend or a recovery sends it. */
  readonly state: 'pending' | 'dropped';
}

/** One more round of a delivery, requested at this place in the stream. */
export interface ResendRow {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly position: string;
}

export async function insertDeliveries(rows: readonly DeliveryRow[], tx: PoolClient): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `insert into webhooks.deliveries (delivery_id, endpoint_id, merchant_id, type, body, is_test, mac, traceparent,
       state, finished_at)
     select *, case when state = 'dropped' then clock_timestamp() end
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::bool[], $7::text[], $8::text[],
       $9::text[]) as created (delivery_id, endpoint_id, merchant_id, type, body, is_test, mac, traceparent, state)
     on conflict (delivery_id) do nothing`,
    columnArrays(
      rows,
      'delivery_id',
      'endpoint_id',
      'merchant_id',
      'type',
      'body',
      'is_test',
      'mac',
      'traceparent',
      'state',
    ),
  );
}

/** Deliveries dropped at once: half a million held up the deliveries of all merchants for 20 seconds. */
export const DROPPED_AT_ONCE = 5000;

/**
 * What is still to be sent to deleted endpoints is dropped. What a sender holds, the sender drops, and so it does with what
 * is left when it comes due.
 */
export async function dropDeliveries(endpointIds: readonly string[], tx: PoolClient): Promise<void> {
  if (endpointIds.length === 0) return;
  await tx.query(
    // Locked in the order in which senders and recoveries lock.
    `with pending as materialized (
       select delivery_id from webhooks.deliveries
       where delivery_id = any(array(
           select delivery_id from webhooks.deliveries
           where endpoint_id = any($1::uuid[]) and state = 'pending' and leased_by is null limit ${DROPPED_AT_ONCE}))
         and state = 'pending' and leased_by is null
       order by delivery_id for update)
     update webhooks.deliveries set state = 'dropped', finished_at = clock_timestamp()
     where delivery_id = any(array(select delivery_id from pending))`,
    [endpointIds],
  );
}

/**
 * Makes the deliveries due now, in a round of their own. One that a sender holds stays with it: when its attempt fails
 * the round begins then, and when it succeeds there is nothing left to send.
 */
export async function resendDeliveries(rows: readonly ResendRow[], tx: PoolClient): Promise<void> {
  if (rows.length === 0) return;
  const last = new Map(rows.map((row) => [row.delivery_id, row.position]));
  await tx.query(
    // Locked in the order in which senders and recoveries lock.
    `with requested as materialized (
       select delivery_id, position from webhooks.deliveries
       join unnest($1::uuid[], $2::text[]) as requested (delivery_id, position) using (delivery_id)
       order by delivery_id for update of deliveries
     )
     update webhooks.deliveries delivery set state = 'pending', finished_at = null,
       due_at = case when leased_by is null then clock_timestamp() else due_at end,
       attempts_before = case when leased_by is null then attempts else attempts_before end,
       resend_requested = leased_by is not null,
       resent_position = requested.position
     from requested where delivery.delivery_id = requested.delivery_id and (resent_position is null or
       (length(resent_position), resent_position collate "C") < (length(requested.position), requested.position collate "C"))`,
    [[...last.keys()], [...last.values()]],
  );
}

import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

/** Deliveries looked at in one statement. */
const LOOKED_AT = 500;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** The last delivery of an endpoint that was looked at. */
export interface Place {
  readonly createdAt: string;
  readonly deliveryId: string;
}

/** Before all deliveries since then, an ISO 8601 time. */
export function placeBefore(createdAt: string): Place {
  return { createdAt, deliveryId: FIRST_ID };
}

/** Deliveries that tell of a person who is erased. */
@Injectable()
export class ErasedDeliveries {
  constructor(private readonly database: Database) {}

  /** All of the merchant, also deleted ones. */
  async endpoints(merchantId: string): Promise<readonly string[]> {
    const rows = await this.database.query<{ endpoint_id: string }>(
      'select endpoint_id from webhooks.lanes where merchant_id = $1 order by endpoint_id',
      [merchantId],
    );
    return rows.map(({ endpoint_id }) => endpoint_id);
  }

  /**
   * Goes through the next of the endpoint's deliveries: what tells of the user and arrived is deleted with its attempts, of
   * the rest what receivers responded goes. The place it came to, or null at the end.
   */
  async drop(endpointId: string, userId: string, { createdAt, deliveryId }: Place): Promise<Place | null> {
    const [looked] = await this.database.query<{ created_at: string | null; delivery_id: string | null }>(
      DROP,
      [endpointId, createdAt, deliveryId, userId],
    );
    const { created_at, delivery_id } = looked!;
    if (created_at === null || delivery_id === null) return null;
    return { createdAt: created_at, deliveryId: delivery_id };
  }
}

/** Gives the last delivery that was looked at, or nulls at the end. Rows are locked in the order of resends and recoveries. */
const DROP = `
  with looked_at as materialized (
    select delivery_id, created_at, position($4 in body) > 0 as tells from webhooks.deliveries
    where endpoint_id = $1 and (created_at, delivery_id) > ($2::timestamptz, $3::uuid)
    order by created_at, delivery_id limit ${LOOKED_AT}
  ), told as materialized (
    select delivery_id, state from webhooks.deliveries
    where delivery_id = any(array(select delivery_id from looked_at where tells))
    order by delivery_id for update
  ), deleted as (
    delete from webhooks.deliveries using told
    where deliveries.delivery_id = told.delivery_id and told.state = 'succeeded'
  ), deleted_attempts as (
    delete from webhooks.attempts using told
    where attempts.delivery_id = told.delivery_id and told.state = 'succeeded'
  ), emptied as (
    update webhooks.attempts set response_excerpt = null from told
    where attempts.delivery_id = told.delivery_id and told.state <> 'succeeded'
  ), last as (
    select created_at, delivery_id from looked_at order by created_at desc, delivery_id desc limit 1
  )
  select (select created_at::text from last) as created_at, (select delivery_id from last) as delivery_id`;

import { Injectable } from '@nestjs/common';
import type { Clock } from '../../../kernel/clock.js';
import { earlierNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';

/** Rows looked at in one transaction, and deleted when they are old enough. */
export const PRUNED_AT_ONCE = 500;
/** Endpoints looked at in one statement. */
const ENDPOINTS = 200;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** An endpoint with old deliveries, and the last of them that was looked at. */
export interface Place {
  readonly endpointId: string;
  readonly createdAt: string;
  readonly deliveryId: string;
}

/** Deliveries, attempts and recoveries that finished long ago. */
@Injectable()
export class OldDeliveries {
  constructor(private readonly database: Database) {}

  now(clock: Clock): Promise<Date> {
    return earlierNow(this.database, clock);
  }

  /** The next endpoints in the order of their ids; the last one is null when there are no more. */
  async endpoints(
    after: string | null,
    before: Date,
  ): Promise<{ readonly last: string | null; readonly old: Place[] }> {
    const rows = await this.database.query<{ endpoint_id: string; old: boolean }>(ENDPOINTS_AFTER, [
      after ?? FIRST_ID,
      before,
    ]);
    const old = rows
      .filter((row) => row.old)
      .map((row) => ({ endpointId: row.endpoint_id, createdAt: '-infinity', deliveryId: FIRST_ID }));
    return { last: rows.at(-1)?.endpoint_id ?? null, old };
  }

  /** Deletes what finished before a moment among the next deliveries; the place it came to, or null at the end. */
  async prune({ endpointId, createdAt, deliveryId }: Place, before: Date): Promise<Place | null> {
    const [looked] = await this.database.query<{ created_at: string | null; delivery_id: string | null }>(
      PRUNE,
      [endpointId, before, createdAt, deliveryId],
    );
    const { created_at, delivery_id } = looked!;
    if (created_at === null || delivery_id === null) return null;
    return { endpointId, createdAt: created_at, deliveryId: delivery_id };
  }

  /** False when no ended recoveries of before are left. */
  async pruneRecoveries(before: Date): Promise<boolean> {
    return (await this.database.query(RECOVERIES, [before])).length === PRUNED_AT_ONCE;
  }
}

const ENDPOINTS_AFTER = `
  select endpoint_id, exists (select from webhooks.deliveries delivery
    where delivery.endpoint_id = lane.endpoint_id and created_at < $2) as old
  from webhooks.lanes lane where endpoint_id > $1 order by endpoint_id limit ${ENDPOINTS}`;

/**
 * What finished before a moment was created before it: found from the old end of the endpoint's index. Locked in the
 * order in which senders and resends lock; a delivery that one of them has made pending meanwhile stays. Gives the
 * last delivery that was looked at, or null when there are no more.
 */
const PRUNE = `
  with looked_at as materialized (
    select delivery_id, created_at from webhooks.deliveries
    where endpoint_id = $1 and created_at < $2 and (created_at, delivery_id) > ($3::timestamptz, $4::uuid)
      and not exists (select from webhooks.recoveries where endpoint_id = $1 and finished_at is null)
    order by created_at, delivery_id limit ${PRUNED_AT_ONCE}
  ), expired as materialized (
    select delivery_id from webhooks.deliveries
    where delivery_id = any(array(select delivery_id from looked_at)) and state <> 'pending' and finished_at < $2
    order by delivery_id for update
  ), deleted as (
    delete from webhooks.deliveries using expired where deliveries.delivery_id = expired.delivery_id
  ), deleted_attempts as (
    delete from webhooks.attempts using expired where attempts.delivery_id = expired.delivery_id
  ), last as (
    select created_at, delivery_id from looked_at order by created_at desc, delivery_id desc limit 1
  )
  select (select created_at::text from last) as created_at, (select delivery_id from last) as delivery_id`;

const RECOVERIES = `
  delete from webhooks.recoveries where recovery_id in (
    select recovery_id from webhooks.recoveries where finished_at < $1 limit ${PRUNED_AT_ONCE})
  returning recovery_id`;

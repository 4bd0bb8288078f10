import { Injectable } from '@nestjs/common';
import { NIL_UUID } from '../../../kernel/ids.js';
import type { Clock } from '../../../kernel/clock.js';
import { deleteBefore, everyRow } from '../../../platform/postgres/batches.js';
import { earlierNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';

/** Rows read in one transaction, and deleted when they are old enough. */
export const PRUNED_AT_ONCE = 500;

/** The last delivery of an endpoint that was read. */
export interface Place {
  readonly endpointId: string;
  readonly createdAt: string;
  readonly deliveryId: string;
}

interface Last {
  readonly [column: string]: unknown;
  readonly created_at: string | null;
  readonly delivery_id: string | null;
}

/** Deletes deliveries, attempts and recoveries that finished long ago, and deliveries about erased persons. */
@Injectable()
export class DeliveryRetentionTable {
  constructor(private readonly database: Database) {}

  now(clock: Clock): Promise<Date> {
    return earlierNow(this.database, clock);
  }

  /** Endpoints with deliveries that were created before this time. */
  async endpointsBefore(time: Date): Promise<readonly string[]> {
    const old: string[] = [];
    await everyRow<{ endpoint_id: string; is_old: boolean }>(
      (sql, values) => this.database.query(sql, [...values, time]),
      `select endpoint_id, exists (
         select from webhooks.deliveries d where d.endpoint_id = snapshot.endpoint_id and created_at < $3
       ) as is_old
       from webhooks.endpoint_snapshots snapshot where $1::uuid is null or endpoint_id > $1
       order by endpoint_id limit $2`,
      ({ endpoint_id }) => endpoint_id,
      ({ endpoint_id, is_old }) => is_old && old.push(endpoint_id),
    );
    return old;
  }

  /** Deletes what finished before this time among the next deliveries; the last of them, or null at the end. */
  prune(place: Place, before: Date): Promise<Place | null> {
    return this.step(PRUNE, place, before);
  }

  /** Those that ended before this time. */
  async pruneRecoveries(before: Date, signal?: AbortSignal): Promise<void> {
    await deleteBefore(this.database.pool, 'webhooks.recoveries', 'finished_at < $1', before, signal);
  }

  /** All of the merchant, also deleted ones. */
  async endpointsOf(merchantId: string): Promise<readonly string[]> {
    const rows = await this.database.query<{ endpoint_id: string }>(
      'select endpoint_id from webhooks.endpoint_snapshots where merchant_id = $1 order by endpoint_id',
      [merchantId],
    );
    return rows.map(({ endpoint_id }) => endpoint_id);
  }

  /**
   * Reads the next of the endpoint's deliveries: what names the user and arrived is deleted with its attempts; of the
   * rest the responses of receivers are deleted. The last of them, or null at the end.
   */
  erase(place: Place, userId: string): Promise<Place | null> {
    return this.step(ERASE, place, userId);
  }

  private async step(sql: string, place: Place, than: Date | string): Promise<Place | null> {
    const { endpointId, createdAt, deliveryId } = place;
    const [last] = await this.database.query<Last>(sql, [endpointId, createdAt, deliveryId, than]);
    const { created_at, delivery_id } = last!;
    if (created_at === null || delivery_id === null) return null;
    return { endpointId, createdAt: created_at, deliveryId: delivery_id };
  }
}

/** Before all deliveries of the endpoint since then, a timestamp of PostgreSQL. */
export function placeBefore(endpointId: string, createdAt: string): Place {
  return { endpointId, createdAt, deliveryId: NIL_UUID };
}

const LAST = `
  last as (select created_at, delivery_id from read order by created_at desc, delivery_id desc limit 1)
  select (select created_at::text from last) as created_at, (select delivery_id from last) as delivery_id`;

/**
 * What finished before a time was created before it: found from the old end of the endpoint's index. Locked in the
 * order in which senders and resends lock; a delivery that is pending again meanwhile stays.
 */
const PRUNE = `
  with read as materialized (
    select delivery_id, created_at from webhooks.deliveries
    where endpoint_id = $1 and created_at < $4 and (created_at, delivery_id) > ($2::timestamptz, $3::uuid)
      and not exists (select from webhooks.recoveries where endpoint_id = $1 and finished_at is null)
    order by created_at, delivery_id limit ${PRUNED_AT_ONCE}
  ), expired as materialized (
    select delivery_id from webhooks.deliveries
    where delivery_id = any(array(select delivery_id from read)) and state <> 'pending' and finished_at < $4
    order by delivery_id for update
  ), deleted as (
    delete from webhooks.deliveries using expired where deliveries.delivery_id = expired.delivery_id
  ), deleted_attempts as (
    delete from webhooks.attempts using expired where attempts.delivery_id = expired.delivery_id
  ), ${LAST}`;

/** Rows are locked in the order of resends and recoveries. */
const ERASE = `
  with read as materialized (
    select delivery_id, created_at, position($4 in body) > 0 as names_user from webhooks.deliveries
    where endpoint_id = $1 and (created_at, delivery_id) > ($2::timestamptz, $3::uuid)
    order by created_at, delivery_id limit ${PRUNED_AT_ONCE}
  ), found as materialized (
    select delivery_id, state from webhooks.deliveries
    where delivery_id = any(array(select delivery_id from read where names_user))
    order by delivery_id for update
  ), deleted as (
    delete from webhooks.deliveries using found
    where deliveries.delivery_id = found.delivery_id and found.state = 'succeeded'
  ), deleted_attempts as (
    delete from webhooks.attempts using found
    where attempts.delivery_id = found.delivery_id and found.state = 'succeeded'
  ), emptied as (
    update webhooks.attempts set response_excerpt = null from found
    where attempts.delivery_id = found.delivery_id and found.state <> 'succeeded'
  ), ${LAST}`;

import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, DAY_MS, HOUR_MS, type Clock } from '../../../kernel/clock.js';
import { NIL_UUID } from '../../../kernel/ids.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { Forgets, type ErasedPerson } from '../../../platform/operations/erasure.js';
import { deleteBefore } from '../../../platform/postgres/batches.js';
import { earlierNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { webhooksConfig, type WebhooksConfig } from '../webhooks.config.js';
import { DELIVERIES_SAGA } from './deliveries.saga.js';

const ROUND_MS = 6 * HOUR_MS;
/** The time before a user's creation in which deliveries are searched too, because clocks differ. */
const MARGIN_MS = DAY_MS;
export const PRUNED_AT_ONCE = 500;

/** Returns the retention in milliseconds, which is at least the window in which failed attempts count. */
export function retentionMs({ webhookRetentionDays, webhookDisableWindowSeconds }: WebhooksConfig): number {
  if (webhookRetentionDays === 0) return Infinity;
  return Math.max(webhookRetentionDays * DAY_MS, webhookDisableWindowSeconds * 1000);
}

/** Deletes old finished deliveries and recoveries, but no delivery of an endpoint with an open recovery. */
@Injectable()
export class DeliveryRetentionProcessor {
  constructor(
    @Inject(webhooksConfig.KEY) private readonly config: WebhooksConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly database: Database,
    private readonly progress: SubscriptionProgress,
  ) {}

  @Periodic({ name: 'retention of deliveries', everyMs: ROUND_MS })
  async prune(signal?: AbortSignal): Promise<void> {
    if (this.config.webhookRetentionDays === 0) return;
    const now = await earlierNow(this.database, this.clock);
    const before = new Date(now.getTime() - retentionMs(this.config));
    await this.walk(PRUNE, '-infinity', [before], signal);
    await deleteBefore(this.database.pool, 'webhooks.recoveries', 'finished_at < $1', before, signal);
  }

  /**
   * Deletes succeeded deliveries about an erased person. The others are kept until their retention ends,
   * because they contain ids, amounts and data of the merchant.
   */
  @Forgets('webhooks')
  async forget({ userId, merchantId, createdAt }: ErasedPerson, signal: AbortSignal): Promise<boolean> {
    // All deliveries about the person exist once the saga is current.
    if (!(await this.progress.waitUntilCurrent(DELIVERIES_SAGA))) return false;
    const since = new Date(Date.parse(createdAt) - MARGIN_MS).toISOString();
    const endpoints = await this.database.query<{ endpoint_id: string }>(
      'select endpoint_id from webhooks.endpoint_snapshots where merchant_id = $1 order by endpoint_id',
      [merchantId],
    );
    for (const { endpoint_id } of endpoints)
      if (!(await this.walk(ERASE, since, [endpoint_id, userId], signal))) return false;
    return true;
  }

  /** Applies a statement to deliveries since a time, oldest first. Returns false if `signal` is aborted. */
  private async walk(
    sql: string,
    since: string,
    values: readonly unknown[],
    signal?: AbortSignal,
  ): Promise<boolean> {
    for (let [time, id] = [since, NIL_UUID]; ;) {
      if (signal?.aborted) return false;
      const [last] = await this.database.query<{ created_at: string; delivery_id: string }>(sql, [
        time,
        id,
        ...values,
      ]);
      if (last === undefined) return true;
      [time, id] = [last.created_at, last.delivery_id];
    }
  }
}

/** The condition for the next chunk. A statement returns the last row of its chunk, or no row at the end. */
const NEXT = `(created_at, delivery_id) > ($1::timestamptz, $2::uuid)
    order by created_at, delivery_id limit ${PRUNED_AT_ONCE}`;
const LAST = `select created_at::text, delivery_id from read order by read.created_at desc, delivery_id desc limit 1`;

/** Deletes expired deliveries, oldest first. Like senders, it locks rows in id order, to avoid deadlocks. */
const PRUNE = `
  with read as materialized (
    select delivery_id, created_at from webhooks.deliveries where created_at < $3 and ${NEXT}
  ), expired as materialized (
    select delivery_id from webhooks.deliveries
    where delivery_id = any(array(select delivery_id from read)) and state <> 'pending' and finished_at < $3
      and not exists (select from webhooks.recoveries recovery
        where recovery.endpoint_id = deliveries.endpoint_id and recovery.finished_at is null)
    order by delivery_id for update of deliveries
  ), deleted as (
    delete from webhooks.deliveries using expired where deliveries.delivery_id = expired.delivery_id
  ), deleted_attempts as (
    delete from webhooks.attempts using expired where attempts.delivery_id = expired.delivery_id
  ) ${LAST}`;

/** Deletes succeeded deliveries that name the user, and the response excerpts of the others. */
const ERASE = `
  with read as materialized (
    select delivery_id, created_at, position($4 in body) > 0 as names_user from webhooks.deliveries
    where endpoint_id = $3 and ${NEXT}
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
  ) ${LAST}`;

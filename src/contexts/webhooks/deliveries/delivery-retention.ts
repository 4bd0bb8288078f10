import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, DAY_MS, HOUR_MS, type Clock } from '../../../kernel/clock.js';
import { NIL_UUID } from '../../../kernel/ids.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { Forgets, type ErasedPerson } from '../../../platform/operations/erasure.js';
import { deleteBefore } from '../../../platform/postgres/batches.js';
import { earlierNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { webhooksConfig, type WebhooksConfig } from '../settings.js';
import { DELIVERIES_SAGA } from './deliveries-saga.js';

const DAY_SECONDS = 86_400;
const ROUND_MS = 6 * HOUR_MS;
/** Clocks of a delivery and of the user's creation may differ by as much. */
const MARGIN_MS = DAY_MS;
/** Rows read in one transaction, and deleted when they are old enough. */
export const PRUNED_AT_ONCE = 500;

/**
 * Returns the seconds for which finished deliveries are retained at least. Attempts that still count as failures are
 * kept.
 */
export function retentionSeconds({
  webhookRetentionDays,
  webhookDisableWindowSeconds,
}: WebhooksConfig): number {
  if (webhookRetentionDays === 0) return Infinity;
  return Math.max(webhookRetentionDays * DAY_SECONDS, webhookDisableWindowSeconds);
}

/**
 * Deletes deliveries that finished more than WEBHOOK_RETENTION_DAYS ago, with their attempts, and recoveries that ended
 * as long ago. What is pending stays, and so does everything of an endpoint that is being recovered.
 */
@Injectable()
export class DeliveryRetention {
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
    const before = new Date(now.getTime() - retentionSeconds(this.config) * 1000);
    await this.walk(PRUNE, '-infinity', [before], signal);
    await deleteBefore(this.database.pool, 'webhooks.recoveries', 'finished_at < $1', before, signal);
  }

  /**
   * Deletes deliveries about an erased person that arrived. One that the merchant did not get yet stays until it arrives or
   * its retention ends: it holds ids, amounts and what the merchant itself reported.
   */
  @Forgets('webhooks')
  async forget({ userId, merchantId, createdAt }: ErasedPerson, signal: AbortSignal): Promise<boolean> {
    // All events about the person are deliveries by then.
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

  /** Applies a statement to deliveries created since then, chunk by chunk, oldest first. Returns false when it is aborted. */
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

/** The next deliveries, the last of which a statement returns; none at the end. */
const NEXT = `(created_at, delivery_id) > ($1::timestamptz, $2::uuid)
    order by created_at, delivery_id limit ${PRUNED_AT_ONCE}`;
const LAST = `select created_at::text, delivery_id from read order by read.created_at desc, delivery_id desc limit 1`;

/**
 * What finished before a time was created before it: found from the old end of the index by time. Locked in the order in
 * which senders and resends lock; a delivery that is pending again meanwhile stays.
 */
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

/**
 * Deletes deliveries that name the user and arrived, with their attempts, and the receivers' responses of the others.
 */
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

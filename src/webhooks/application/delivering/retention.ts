import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { Database } from '../../../platform/database/database.js';
import { Wakeable } from '../../../platform/wakeable.js';

const MINUTE_MS = 60_000;
const DAY_SECONDS = 86_400;
/** Deliveries deleted in one transaction. */
export const PRUNED_AT_ONCE = 500;
/** Endpoints looked at in one statement. */
const ENDPOINTS = 200;
/** Transactions of one turn; the next goes on from there. */
const CHUNKS_PER_TURN = 200;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Deletes deliveries that finished more than WEBHOOK_RETENTION_DAYS ago, with their attempts, and recoveries that ended
 * as long ago. What is pending stays, and so does everything of an endpoint that is being recovered.
 */
@Injectable()
export class Retention implements BeforeApplicationShutdown {
  private readonly log = new Logger(Retention.name);
  private readonly active: boolean;
  private readonly work: Wakeable;
  /** The last endpoint whose old deliveries are gone, in this round over all of them. */
  private after = FIRST_ID;
  private stopping = false;

  constructor(
    @Inject(CONFIG)
    private readonly config: Pick<Config, 'roles' | 'webhookRetentionDays' | 'webhookDisableWindowSeconds'>,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly database: Database,
  ) {
    this.active = config.roles.includes('worker') && config.webhookRetentionDays > 0;
    this.work = new Wakeable(
      () => this.turn(),
      (error) => this.log.warn(`old deliveries stay for now: ${(error as Error).message}`),
    );
  }

  @Interval(MINUTE_MS)
  tick(): void {
    if (this.active) this.work.wake();
  }

  /** Up to CHUNKS_PER_TURN chunks; ends early when nothing is left. */
  async turn(): Promise<void> {
    const before = this.cutoff();
    await this.database.query('delete from webhooks.recoveries where finished_at < $1', [before]);
    for (let chunk = 0; chunk < CHUNKS_PER_TURN && !this.stopping; chunk += 1) {
      const [looked] = await this.database.query<{ last: string | null; pruned: number }>(PRUNE, [
        this.after,
        before,
      ]);
      // A full chunk: these endpoints may have more.
      if (looked!.pruned === PRUNED_AT_ONCE) continue;
      this.after = looked!.last ?? FIRST_ID;
      if (looked!.last === null) return;
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.work.stop();
  }

  /** Attempts that still count as failures are kept, however short the retention is. */
  private cutoff(): Date {
    const { webhookRetentionDays, webhookDisableWindowSeconds } = this.config;
    const seconds = Math.max(webhookRetentionDays * DAY_SECONDS, webhookDisableWindowSeconds);
    return new Date(this.clock.now().getTime() - seconds * 1000);
  }
}

/** What finished before a moment was created before it: found from the old end of each endpoint's index. */
const PRUNE = `
  with endpoint as materialized (
    select endpoint_id from webhooks.lanes where endpoint_id > $1 order by endpoint_id limit ${ENDPOINTS}
  ), expired as materialized (
    select delivery.delivery_id from endpoint cross join lateral (
      select delivery_id from webhooks.deliveries
      where endpoint_id = endpoint.endpoint_id and created_at < $2 and state <> 'pending' and finished_at < $2
      order by created_at, delivery_id limit ${PRUNED_AT_ONCE} for update skip locked) delivery
    where not exists (
      select from webhooks.recoveries where endpoint_id = endpoint.endpoint_id and finished_at is null)
    limit ${PRUNED_AT_ONCE}
  ), deleted as (
    delete from webhooks.deliveries using expired where deliveries.delivery_id = expired.delivery_id
  ), deleted_attempts as (
    delete from webhooks.attempts using expired where attempts.delivery_id = expired.delivery_id
  )
  select (select max(endpoint_id::text) from endpoint) as last, (select count(*)::int from expired) as pruned`;

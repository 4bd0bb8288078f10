import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { earlierNow } from '../../../../platform/postgres/clock-check.js';
import { Database } from '../../../../platform/postgres/database.js';
import { Wakeable } from '../../../../platform/background/wakeable.js';

const MINUTE_MS = 60_000;
const DAY_SECONDS = 86_400;
/** From the end of one round over all endpoints to the next: to look at a hundred thousand takes a second. */
export const REST_MS = 6 * 3_600_000;
/** Rows looked at in one transaction, and deleted when they are old enough. */
export const PRUNED_AT_ONCE = 500;
/** Endpoints looked at in one statement. */
const ENDPOINTS = 200;
/** Statements of one turn; the next goes on from there. */
const CHUNKS_PER_TURN = 200;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** An endpoint with old deliveries, and the last of them that was looked at in this round. */
interface Place {
  readonly endpointId: string;
  readonly createdAt: string;
  readonly deliveryId: string;
}

/**
 * Deletes deliveries that finished more than WEBHOOK_RETENTION_DAYS ago, with their attempts, and recoveries that ended
 * as long ago. What is pending stays, and so does everything of an endpoint that is being recovered. Goes around all
 * endpoints a few times a day and looks at each old delivery once in a round: one that was sent again stays for long.
 */
@Injectable()
export class Retention implements BeforeApplicationShutdown {
  private readonly log = new Logger(Retention.name);
  private readonly active: boolean;
  private readonly work: Wakeable;
  /** The last endpoint that this round has looked at. */
  private after = FIRST_ID;
  /** Those before it that are not done. */
  private waiting: Place[] = [];
  /** Unix milliseconds. */
  private restUntil = -Infinity;
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

  /** Up to CHUNKS_PER_TURN statements of a round; none between two rounds. */
  async turn(): Promise<void> {
    if (this.clock.now().getTime() < this.restUntil) return;
    const before = await this.cutoff();
    for (let chunk = 0; chunk < CHUNKS_PER_TURN && !this.stopping; chunk += 1) {
      const place = this.waiting.shift();
      if (place) await this.prune(place, before);
      else if (!(await this.lookOn(before))) {
        const ended = await this.database.query(RECOVERIES, [before]);
        if (ended.length === PRUNED_AT_ONCE) continue;
        this.after = FIRST_ID;
        this.restUntil = this.clock.now().getTime() + REST_MS;
        return;
      }
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.work.stop();
  }

  /** The next endpoints with old deliveries; false when there are no more endpoints. */
  private async lookOn(before: Date): Promise<boolean> {
    const rows = await this.database.query<{ endpoint_id: string; old: boolean }>(ENDPOINTS_AFTER, [
      this.after,
      before,
    ]);
    const old = rows.filter((row) => row.old);
    this.waiting = old.map((row) => ({
      ...{ endpointId: row.endpoint_id, createdAt: '-infinity', deliveryId: FIRST_ID },
    }));
    this.after = rows.at(-1)?.endpoint_id ?? this.after;
    return rows.length > 0;
  }

  private async prune({ endpointId, createdAt, deliveryId }: Place, before: Date): Promise<void> {
    const [looked] = await this.database.query<{ created_at: string | null; delivery_id: string | null }>(
      PRUNE,
      [endpointId, before, createdAt, deliveryId],
    );
    const { created_at, delivery_id } = looked!;
    if (created_at === null || delivery_id === null) return;
    this.waiting.unshift({ endpointId, createdAt: created_at, deliveryId: delivery_id });
  }

  /** Attempts that still count as failures are kept, however short the retention is. */
  private async cutoff(): Promise<Date> {
    const { webhookRetentionDays, webhookDisableWindowSeconds } = this.config;
    const seconds = Math.max(webhookRetentionDays * DAY_SECONDS, webhookDisableWindowSeconds);
    return new Date((await earlierNow(this.database, this.clock)).getTime() - seconds * 1000);
  }
}

const ENDPOINTS_AFTER = `
  select endpoint_id, exists (select from webhooks.deliveries delivery
    where delivery.endpoint_id = lane.endpoint_id and created_at < $2) as old
  from webhooks.lanes lane where endpoint_id > $1 order by endpoint_id limit ${ENDPOINTS}`;

/**
 * What finished before a moment was created before it: found from the old end of the endpoint's index. Answers with the
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
    order by delivery_id for update skip locked
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
    select recovery_id from webhooks.recoveries where finished_at < $1 limit ${PRUNED_AT_ONCE} for update skip locked)
  returning recovery_id`;

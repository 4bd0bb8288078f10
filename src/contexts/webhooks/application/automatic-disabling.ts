import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Interval } from '@nestjs/schedule';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { Database } from '../../../platform/postgres/database.js';
import { Wakeable } from '../../../platform/background/wakeable.js';
import { counts } from '../views/counted-failures.js';
import { DisableWebhookEndpoint } from './disable-webhook-endpoint.js';
import { keepGone, settleGone } from './gone-answers.js';

/** How often all endpoints are judged: what a process left undone when it died is done by then. */
const JUDGE_ALL_MS = 60_000;
/** Endpoints judged by one statement. */
const CHUNK = 1000;
/** Between two statements, so that failures by the thousand cost few of them. */
const PAUSE_MS = 100;

/** An endpoint to be disabled. */
interface Failing {
  readonly endpoint_id: string;
  readonly merchant_id: string;
  /** When the oldest failure that counts began. */
  readonly failing_since: Date;
}

/**
 * Disables endpoints with a sustained pattern of failures (contract.md 15): enough of them within the window,
 * the first and the last far enough apart. Successes in between change nothing. Judged soon after failures were recorded
 * and once a minute for all, so that nothing is lost with a process. Two processes that judge at once do no harm.
 */
@Injectable()
export class AutomaticDisabling implements BeforeApplicationShutdown {
  private readonly log = new Logger(AutomaticDisabling.name);
  private failed = new Set<string>();
  private all = false;
  private readonly work = new Wakeable(
    () => this.judgeWaiting(),
    (error) => this.log.warn(`endpoints are not judged: ${(error as Error).message}`),
  );

  constructor(
    private readonly database: Database,
    private readonly commands: CommandBus,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG)
    private readonly config: Pick<
      Config,
      'roles' | 'webhookDisableFailures' | 'webhookDisableSpanSeconds' | 'webhookDisableWindowSeconds'
    >,
  ) {}

  /** A failed attempt of the endpoint was recorded. Returns at once. */
  attemptFailed(endpointId: string): void {
    this.failed.add(endpointId);
    this.work.wake();
  }

  @Interval(JUDGE_ALL_MS)
  judgeAll(): void {
    if (!this.config.roles.includes('worker')) return;
    this.all = true;
    this.work.wake();
  }

  /** Keeps for the next look at all endpoints what could not be done now: the event store was away. */
  keepForLater(command: DisableWebhookEndpoint): Promise<void> {
    return keepGone(this.database, command);
  }

  /** Disables those of the endpoints that keep failing. */
  async judge(endpointIds: readonly string[]): Promise<void> {
    for (const { endpoint_id, merchant_id, failing_since } of await this.failing(endpointIds)) {
      const reason = { cause: 'failing', failingSince: failing_since.toISOString() } as const;
      await this.commands.execute(new DisableWebhookEndpoint(merchant_id, endpoint_id, reason));
    }
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.work.stop();
  }

  private async judgeWaiting(): Promise<void> {
    const failed = [...this.failed];
    const all = this.all;
    this.failed = new Set();
    this.all = false;
    for (let from = 0; from < failed.length; from += CHUNK)
      await this.judge(failed.slice(from, from + CHUNK));
    if (all) {
      await settleGone(this.database, (command) => this.commands.execute(command));
      await this.judgeEnabled();
    }
    await sleep(PAUSE_MS);
  }

  private async judgeEnabled(): Promise<void> {
    let last = '00000000-0000-0000-0000-000000000000';
    for (;;) {
      const rows = await this.database.query<{ endpoint_id: string }>(
        `select endpoint_id from webhooks.lanes where status = 'enabled' and endpoint_id > $1
         order by endpoint_id limit $2`,
        [last, CHUNK],
      );
      await this.judge(rows.map((row) => row.endpoint_id));
      if (rows.length < CHUNK) return;
      last = rows.at(-1)!.endpoint_id;
    }
  }

  /** Looks at the first, the last and at most as many failures in between as it takes to be disabled. */
  private failing(endpointIds: readonly string[]): Promise<Failing[]> {
    const failures = (columns: string, rest: string): string =>
      `select ${columns} from webhooks.attempts attempt where ${counts('$2', '$3')} ${rest}`;
    return this.database.query<Failing & { [column: string]: unknown }>(
      `select lane.endpoint_id, lane.merchant_id, oldest.started_at as failing_since
       from webhooks.lanes lane
       cross join lateral (${failures('started_at', 'order by started_at limit 1')}) oldest
       cross join lateral (${failures('started_at', 'order by started_at desc limit 1')}) newest
       where lane.endpoint_id = any($1::uuid[]) and lane.status = 'enabled'
         and newest.started_at - oldest.started_at >= make_interval(secs => $4)
         and exists (${failures('', 'order by started_at offset $5 limit 1')})`,
      [
        endpointIds,
        this.clock.now(),
        this.config.webhookDisableWindowSeconds,
        this.config.webhookDisableSpanSeconds,
        this.config.webhookDisableFailures - 1,
      ],
    );
  }
}

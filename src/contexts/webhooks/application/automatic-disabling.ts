import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Interval } from '@nestjs/schedule';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { Wakeable } from '../../../platform/background/wakeable.js';
import { FailingEndpoints, type GoneEndpoint } from '../store/failing-endpoints.js';
import { DisableWebhookEndpoint } from './disable-webhook-endpoint.js';

/** How often all endpoints are judged: what a process left undone when it died is done by then. */
const JUDGE_ALL_MS = 60_000;
/** Endpoints judged by one statement. */
const CHUNK = 1000;
/** Between two statements, so that failures by the thousand cost few of them. */
const PAUSE_MS = 100;

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
    private readonly endpoints: FailingEndpoints,
    private readonly commands: CommandBus,
    @Inject(CONFIG) private readonly config: Pick<Config, 'roles'>,
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

  /** Disables an endpoint that answered 410: later when the event store is unavailable. Rejects when neither can be done. */
  async disableGone(gone: GoneEndpoint): Promise<void> {
    try {
      await this.execute(gone);
    } catch (error) {
      this.log.warn(`endpoint ${gone.endpoint_id} is disabled later: ${(error as Error).message}`);
      await this.endpoints.keepGone(gone);
    }
  }

  /** Disables those of the endpoints that keep failing. */
  async judge(endpointIds: readonly string[]): Promise<void> {
    for (const { endpoint_id, merchant_id, failing_since } of await this.endpoints.among(endpointIds)) {
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
      await this.disableKept();
      await this.judgeEnabled();
    }
    await sleep(PAUSE_MS);
  }

  /** Those whose receiver answered 410 while the event store was unavailable. */
  private async disableKept(): Promise<void> {
    for (const gone of await this.endpoints.gone()) {
      await this.execute(gone);
      await this.endpoints.forgetGone(gone);
    }
  }

  private async execute(gone: GoneEndpoint): Promise<void> {
    const attempt = { attemptedUrl: gone.attempted_url, attemptedAt: gone.attempted_at.toISOString() };
    const reason = { cause: 'gone', deliveryId: gone.delivery_id, ...attempt } as const;
    await this.commands.execute(new DisableWebhookEndpoint(gone.merchant_id, gone.endpoint_id, reason));
  }

  private async judgeEnabled(): Promise<void> {
    let last = '00000000-0000-0000-0000-000000000000';
    for (;;) {
      const ids = await this.endpoints.enabledAfter(last, CHUNK);
      await this.judge(ids);
      if (ids.length < CHUNK) return;
      last = ids.at(-1)!;
    }
  }
}

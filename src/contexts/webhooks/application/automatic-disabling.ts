import { Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { pause } from '../../../platform/background/backoff.js';
import { BackgroundWork } from '../../../platform/background/background-work.js';
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
export class AutomaticDisabling {
  readonly failing = new BackgroundWork({
    name: 'judging of webhook endpoints that failed',
    everyMs: JUDGE_ALL_MS,
    run: (signal) => this.judgeFailed(signal),
  });
  readonly all = new BackgroundWork({
    name: 'judging of all webhook endpoints',
    everyMs: JUDGE_ALL_MS,
    run: () => this.judgeAll(),
  });

  private readonly log = new Logger(AutomaticDisabling.name);
  private readonly failed = new Set<string>();

  constructor(
    private readonly endpoints: FailingEndpoints,
    private readonly commands: CommandBus,
  ) {}

  /** A failed attempt of the endpoint was recorded. Returns at once. */
  attemptFailed(endpointId: string): void {
    this.failed.add(endpointId);
    this.failing.wake();
  }

  /** Disables an endpoint that responded with 410: later when the event store is unavailable. Rejects when neither can be done. */
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

  async judgeAll(): Promise<void> {
    await this.disableKept();
    let last: string | null = null;
    do {
      const ids: string[] = await this.endpoints.enabledAfter(last, CHUNK);
      await this.judge(ids);
      last = ids.length < CHUNK ? null : ids.at(-1)!;
    } while (last !== null);
  }

  private async judgeFailed(signal: AbortSignal): Promise<void> {
    const failed = [...this.failed];
    this.failed.clear();
    for (let from = 0; from < failed.length; from += CHUNK)
      await this.judge(failed.slice(from, from + CHUNK));
    await pause(PAUSE_MS, signal);
  }

  /** Those that responded with 410 while the event store was unavailable. */
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
}

import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { sleep } from '../../../platform/jobs/backoff.js';
import { Background, BackgroundWork, Periodic } from '../../../platform/jobs/background-work.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { Log } from '../../../platform/telemetry/logger.js';
import {
  disableFailing,
  disableGone,
  webhookEndpoints,
  type EndpointRef,
} from '../domain/webhook-endpoints.js';
import { endpointsDisabled } from '../metrics.js';
import { FailingEndpoints } from '../store/failing-endpoints.js';

/** How often all endpoints are evaluated: what a process left undone when it died is done by then. */
const EVALUATE_ALL_MS = 60_000;
/** Endpoints of one statement. */
const CHUNK = 1000;
/** Between two statements, so that failures by the thousand cost few of them. */
const PAUSE_MS = 100;

/** Times are ISO 8601. */
export type DisableReason =
  /** The receiver responded to this delivery with 410, to an attempt that went to this URL and began then. */
  | {
      readonly cause: 'gone';
      readonly delivery_id: string;
      readonly attempted_url: string;
      readonly attempted_at: string;
    }
  /** It kept failing; the oldest failure that counted began then. */
  | { readonly cause: 'failing'; readonly failing_since: string };

/**
 * Disables endpoints that responded with 410, and those with a sustained pattern of failures (contract.md 15): enough of
 * them within the window, the first and the last far enough apart. Successes in between change nothing. Evaluated soon after
 * failures were recorded and once a minute for all, so that nothing is lost with a process. Two processes that evaluate at
 * once do no harm.
 */
@Injectable()
export class AutomaticDisabling {
  @Background()
  readonly failing = new BackgroundWork({
    name: 'evaluation of failed webhook endpoints',
    everyMs: EVALUATE_ALL_MS,
    run: async (signal) => {
      const failed = [...this.failed];
      this.failed.clear();
      if (failed.length > 0) await this.evaluate(failed);
      await sleep(PAUSE_MS, signal);
    },
  });
  private readonly failed = new Set<string>();

  constructor(
    private readonly endpoints: FailingEndpoints,
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** A failed attempt of the endpoint was recorded. Returns at once. */
  attemptFailed(endpointId: string): void {
    this.failed.add(endpointId);
    this.failing.wake();
  }

  async evaluate(endpointIds: readonly string[]): Promise<void> {
    for (const { endpoint_id, merchant_id, failing_since } of await this.endpoints.among(endpointIds))
      await this.disable(
        { endpoint_id, merchant_id },
        { cause: 'failing', failing_since: failing_since.toISOString() },
      );
  }

  @Periodic({ name: 'evaluation of all webhook endpoints', everyMs: EVALUATE_ALL_MS })
  async evaluateAll(): Promise<void> {
    for (let after: string | null = null; ;) {
      const ids = await this.endpoints.enabledAfter(after, CHUNK);
      if (ids.length === 0) return;
      await this.evaluate(ids);
      after = ids.at(-1)!;
    }
  }

  /** One that is disabled or deleted already stays as it is. */
  async disable(endpoint: EndpointRef, reason: DisableReason): Promise<void> {
    const command = { ...endpoint, at: timestamp(this.clock) };
    const { cause } = reason;
    const { events } = await this.loop.execute(
      webhookEndpoints,
      endpoint.merchant_id,
      (state) => {
        if (reason.cause === 'failing')
          return disableFailing({ ...command, failing_since: reason.failing_since }, state);
        const { attempted_url, attempted_at } = reason;
        return disableGone({ ...command, attempted_url, attempted_at }, state);
      },
      {
        metadata: {
          actor: 'webhooks.disabling',
          merchant_id: endpoint.merchant_id,
          ...(reason.cause === 'gone' ? { causation_id: reason.delivery_id } : {}),
        },
      },
    );
    if (events.length === 0) return;
    endpointsDisabled.inc({ cause });
    // No URL: its path may hold a token of the merchant.
    const because =
      reason.cause === 'gone' ? { delivery_id: reason.delivery_id } : { failing_since: reason.failing_since };
    this.log.wideLog('webhook endpoint disabled', { ...endpoint, cause, ...because }, 'warn');
  }
}

import { Injectable, Logger, Inject } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { pause } from '../../../platform/background/backoff.js';
import { Background, BackgroundWork } from '../../../platform/background/background-work.js';
import { DueWork } from '../../../platform/work/due-work.js';
import { WorkItems } from '../../../platform/work/work-items.js';
import { FailingEndpoints } from '../store/failing-endpoints.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { Log } from '../../../platform/telemetry/logger.js';
import { endpointsDisabled } from '../metrics.js';
import { disableFailing, disableGone, webhookEndpoints } from '../domain/webhook-endpoints.js';

/** How often all endpoints are evaluated: what a process left undone when it died is done by then. */
const EVALUATE_ALL_MS = 60_000;
const CHUNK = 1000;
/** Between two statements, so that failures by the thousand cost few of them. */
const PAUSE_MS = 100;

/** Work of `work.items`, by the id of the delivery: its endpoint responded with 410 while the event store was unavailable. */
const DISABLING = 'webhooks.disabling';

/** An endpoint that responded with 410 to an attempt that went to this URL and began then (ISO 8601). */
export interface GoneEndpoint {
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly delivery_id: string;
  readonly attempted_url: string;
  readonly attempted_at: string;
}

/**
 * Disables endpoints with a sustained pattern of failures (contract.md 15): enough of them within the window,
 * the first and the last far enough apart. Successes in between change nothing. Evaluated soon after failures were recorded
 * and once a minute for all, so that nothing is lost with a process. Two processes that evaluate at once do no harm.
 */
@Injectable()
export class AutomaticDisabling {
  @Background()
  readonly failing = new BackgroundWork({
    name: 'evaluation of failed webhook endpoints',
    everyMs: EVALUATE_ALL_MS,
    run: (signal) => this.evaluateFailed(signal),
  });
  @Background()
  readonly all = new BackgroundWork({
    name: 'evaluation of all webhook endpoints',
    everyMs: EVALUATE_ALL_MS,
    run: () => this.evaluateAll(),
  });

  @Background()
  readonly gone: DueWork<GoneEndpoint>;

  private readonly log = new Logger(AutomaticDisabling.name);
  private readonly failed = new Set<string>();

  constructor(
    private readonly endpoints: FailingEndpoints,
    private readonly commands: CommandBus,
    private readonly items: WorkItems,
  ) {
    this.gone = new DueWork(items, {
      kind: DISABLING,
      everyMs: EVALUATE_ALL_MS,
      batch: 16,
      leaseMs: 60_000,
      retry: { firstMs: 1000, maxMs: EVALUATE_ALL_MS },
      perform: ({ state }) => this.execute(state).then(() => 'done' as const),
    });
  }

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
      this.log.warn(`endpoint ${gone.endpoint_id} not disabled yet: ${(error as Error).message}`);
      // Each attempt by itself: two that are recorded out of order do not replace each other.
      const { delivery_id: key, merchant_id: share } = gone;
      await this.items.schedule(DISABLING, [{ key, share, state: gone }]);
    }
  }

  async evaluate(endpointIds: readonly string[]): Promise<void> {
    for (const { endpoint_id, merchant_id, failing_since } of await this.endpoints.among(endpointIds)) {
      const reason = { cause: 'failing', failingSince: failing_since.toISOString() } as const;
      await this.commands.execute(new DisableWebhookEndpoint(merchant_id, endpoint_id, reason));
    }
  }

  async evaluateAll(): Promise<void> {
    let last: string | null = null;
    do {
      const ids: string[] = await this.endpoints.enabledAfter(last, CHUNK);
      await this.evaluate(ids);
      last = ids.length < CHUNK ? null : ids.at(-1)!;
    } while (last !== null);
  }

  private async evaluateFailed(signal: AbortSignal): Promise<void> {
    const failed = [...this.failed];
    this.failed.clear();
    for (let from = 0; from < failed.length; from += CHUNK)
      await this.evaluate(failed.slice(from, from + CHUNK));
    await pause(PAUSE_MS, signal);
  }

  private async execute(gone: GoneEndpoint): Promise<void> {
    const attempt = { attemptedUrl: gone.attempted_url, attemptedAt: gone.attempted_at };
    const reason = { cause: 'gone', deliveryId: gone.delivery_id, ...attempt } as const;
    await this.commands.execute(new DisableWebhookEndpoint(gone.merchant_id, gone.endpoint_id, reason));
  }
}

type DisableReason =
  /** The receiver responded to this delivery with 410, to an attempt that went to this URL and began then (ISO 8601). */
  | {
      readonly cause: 'gone';
      readonly deliveryId: string;
      readonly attemptedUrl: string;
      readonly attemptedAt: string;
    }
  /** It kept failing; the oldest failure that counted began then (ISO 8601). */
  | { readonly cause: 'failing'; readonly failingSince: string };

/** The service disables an endpoint on its own account; one that is disabled or deleted already stays as it is. */
export class DisableWebhookEndpoint extends Command<void> {
  constructor(
    readonly merchantId: string,
    readonly endpointId: string,
    readonly reason: DisableReason,
  ) {
    super();
  }
}

@CommandHandler(DisableWebhookEndpoint)
export class DisableWebhookEndpointHandler implements ICommandHandler<DisableWebhookEndpoint> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  async execute({ merchantId, endpointId, reason }: DisableWebhookEndpoint): Promise<void> {
    const at = timestamp(this.clock);
    const place = { endpoint_id: endpointId, merchant_id: merchantId };
    const { events } = await this.loop.execute(
      webhookEndpoints,
      merchantId,
      (state) =>
        reason.cause === 'gone'
          ? disableGone(
              { ...place, attempted_url: reason.attemptedUrl, attempted_at: reason.attemptedAt, at },
              state,
            )
          : disableFailing({ ...place, failing_since: reason.failingSince, at }, state),
      {
        metadata: {
          actor: 'webhooks.disabling',
          merchant_id: merchantId,
          ...(reason.cause === 'gone' ? { causation_id: reason.deliveryId } : {}),
        },
      },
    );
    if (events.length === 0) return;
    endpointsDisabled.inc({ cause: reason.cause });
    const why =
      reason.cause === 'gone' ? { delivery_id: reason.deliveryId } : { failing_since: reason.failingSince };
    this.log.wideLog('webhook endpoint disabled', { ...place, cause: reason.cause, ...why }, 'warn');
  }
}

import { Inject, Injectable, Logger, Optional, type OnApplicationBootstrap } from '@nestjs/common';
import { HOUR_MS } from '../../../kernel/clock.js';
import { backoffMs, sleep, type Backoff } from '../../../platform/jobs/backoff.js';
import { Background, BackgroundWork } from '../../../platform/jobs/background-work.js';
import { WorkItems, type Next, type WorkItem } from '../../../platform/jobs/work-items.js';
import { Log } from '../../../platform/telemetry/logger.js';
import { measureOnScrape } from '../../../platform/telemetry/metrics.js';
import {
  analyticsBacklog,
  analyticsBacklogAge,
  analyticsEvents,
  analyticsRequests,
  analyticsUnavailable,
} from '../tracking.metrics.js';
import { trackingConfig, type TrackingConfig } from '../tracking.config.js';
import { FORWARDING, ForwardingStore } from './forwarding.store.js';
import { Analytics, type SendResult } from './analytics.ports.js';
import {
  ForwardingRound,
  PendingBatch,
  ThrottledIdentities,
  type RoundEnd,
} from './forwarding-round.service.js';

const POLL_MS = 500;
const MAX_BATCHES = 512;
/** The time after which another process continues for a dead one. */
const LEASE_MS = 15_000;
const FOR_OPERATORS: readonly string[] = ['unauthorized', 'misconfigured', 'forbidden'];

const TIMES = {
  /** The interval at which results are recorded. */
  recordMs: 5000,
  unavailable: { firstMs: 1000, maxMs: 300_000 } as Backoff,
  blamed: { firstMs: 2000, maxMs: HOUR_MS } as Backoff,
};
export type ForwardingTimes = typeof TIMES;

/**
 * Forwards new events to the analytics provider at least once, from one process at a time (ADR 84). Its metrics and logs
 * contain no names, user ids or payloads.
 */
@Injectable()
export class ForwardingProcessor implements OnApplicationBootstrap {
  @Background()
  readonly work = new BackgroundWork({
    name: 'forwarding',
    everyMs: POLL_MS,
    run: (signal) => this.run(signal),
  });
  private readonly logger = new Logger(ForwardingProcessor.name);
  private readonly identities = new ThrottledIdentities();

  constructor(
    private readonly items: WorkItems,
    private readonly table: ForwardingStore,
    private readonly log: Log,
    @Inject(Analytics) private readonly analytics: Analytics | null,
    @Inject(trackingConfig.KEY) private readonly config: TrackingConfig,
    @Optional() private readonly times = TIMES,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.roles.includes('worker')) return;
    measureOnScrape(() => this.measure());
    this.logger.log(
      this.analytics === null
        ? 'analytics disabled: no provider configured, events are stored only'
        : `events are forwarded to ${this.analytics.name}`,
    );
  }

  private async measure(): Promise<void> {
    const { events, oldest, failures, cause } = await this.table.backlog();
    analyticsBacklog.set(events);
    analyticsBacklogAge.set(oldest === null ? 0 : Math.max(0, (Date.now() - oldest.getTime()) / 1000));
    analyticsUnavailable.reset();
    if (failures > 0 && cause !== null) analyticsUnavailable.set({ cause }, failures);
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.table.isDue())) {
      const { items } = await this.items.claim({ kind: FORWARDING, limit: 1, leaseMs: LEASE_MS });
      const [state] = items;
      // Another process has the lease, or the provider is in backoff.
      if (state === undefined) return;
      const next = await this.items.whileClaimed(state, LEASE_MS, () => this.forward(state, signal));
      await this.items.retry(state, next);
    }
  }

  private async forward(state: WorkItem, signal: AbortSignal): Promise<Next> {
    const { analytics } = this;
    if (analytics === null) {
      await this.table.skip();
      return { inMs: 0 };
    }
    // Single batches identify the cause of a failure.
    const limit = state.failures > 0 ? 1 : MAX_BATCHES;
    const batches = (await this.table.due(limit)).map((row) => new PendingBatch(row));
    return this.finish(await this.send(analytics, batches, signal), state, batches);
  }

  private async send(
    analytics: Analytics,
    batches: readonly PendingBatch[],
    signal: AbortSignal,
  ): Promise<RoundEnd> {
    const { recordMs } = this.times;
    let recordAt = performance.now() + recordMs;
    const round = new ForwardingRound({
      analytics,
      identities: this.identities,
      maxEvents: this.config.analyticsEventsPerSecond,
      mayContinue: async () => {
        if (!signal.aborted && performance.now() >= recordAt) {
          recordAt = performance.now() + recordMs;
          await this.record(batches);
        }
        return !signal.aborted;
      },
      sent: (result, events, durationMs) => this.sent(result, events, durationMs, signal),
    });
    return round.run(batches);
  }

  /** Reports a request, and waits for the time that its events take at the permitted rate. */
  private async sent(
    result: SendResult,
    events: number,
    durationMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const isAccepted = result.outcome === 'accepted';
    const outcome = result.outcome === 'unavailable' ? result.cause : result.outcome;
    analyticsRequests.inc({ outcome });
    if (result.outcome === 'parted') analyticsEvents.inc({ outcome: 'throttled' }, result.throttled.length);
    if (isAccepted) analyticsEvents.inc({ outcome: 'forwarded' }, events);
    const fields = { outcome, events, duration_ms: Math.round(durationMs) };
    this.log.wideLog('events forwarded', fields, isAccepted ? 'info' : 'warn');
    if (isAccepted) await sleep((events * 1000) / this.config.analyticsEventsPerSecond, signal);
  }

  private async finish(
    { unavailable, responded }: RoundEnd,
    state: WorkItem,
    batches: readonly PendingBatch[],
  ): Promise<Next> {
    const { failures, failing_seconds } = state;
    if (unavailable !== null && batches.length === 1) batches[0]!.blamed = true;
    await this.record(batches);
    if (unavailable !== null) {
      const { cause, detail, retryAfterMs } = unavailable;
      const pauseMs = Math.max(backoffMs(this.times.unavailable, failures), retryAfterMs ?? 0);
      const fields = { cause, detail, failures: failures + 1, next_in_ms: Math.round(pauseMs) };
      const level = FOR_OPERATORS.includes(cause) ? 'error' : 'warn';
      this.log.wideLog('analytics provider unavailable', fields, level);
      return { inMs: pauseMs, failure: { cause } };
    }
    if (responded && failures > 0) {
      const fields = { cause: state.cause, failures, failing_seconds };
      this.log.wideLog('analytics provider recovered', fields);
    }
    return { inMs: 0 };
  }

  /** A batch that is forwarded already is left unchanged. */
  private async record(batches: readonly PendingBatch[]): Promise<void> {
    const refusals = batches.flatMap((batch) => batch.refusals);
    const results = batches.map(({ row, done, finished, blamed: is_failed, waitMs, error }) => {
      const pauseMs = is_failed ? backoffMs(this.times.blamed, row.forward_attempts) : 0;
      const delay_ms = Math.max(waitMs ?? 0, pauseMs);
      const state = finished ? 'forwarded' : 'processed';
      return { batch_id: row.batch_id, done: done.bytes, state, delay_ms, is_failed, error } as const;
    });
    await this.table.record(results, refusals);
    for (const batch of batches) {
      this.report(batch);
      batch.refusals = [];
      batch.blamed = false;
    }
  }

  private report({ row: { batch_id, merchant_id }, refusals, error, blamed }: PendingBatch): void {
    if (error !== null && blamed)
      this.log.wideLog(`event batch not forwarded: ${error}`, { batch_id, merchant_id }, 'error');
    if (refusals.length === 0) return;
    analyticsEvents.inc({ outcome: 'refused' }, refusals.length);
    const reasons: Record<string, number> = {};
    for (const { reason } of refusals) reasons[reason] = (reasons[reason] ?? 0) + 1;
    const fields = { batch_id, merchant_id, events: refusals.length, reasons };
    this.log.wideLog('events refused by the analytics provider', fields, 'warn');
  }
}

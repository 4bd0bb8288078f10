import {
  Inject,
  Injectable,
  Logger,
  Optional,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { HOUR_MS } from '../../../kernel/clock.js';
import { backoffMs, sleep, type Backoff } from '../../../platform/jobs/backoff.js';
import { Background, BackgroundWork } from '../../../platform/jobs/background-work.js';
import { WorkItems, type WorkItem } from '../../../platform/jobs/work-items.js';
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
/** The margin of the lease over the request timeout, for a slow database. */
const LEASE_MARGIN_MS = 15_000;
const FOR_OPERATORS: readonly string[] = ['unauthorized', 'misconfigured', 'forbidden'];

const TIMES = {
  /** The interval at which results are recorded and the lease is extended. */
  recordMs: 5000,
  unavailable: { firstMs: 1000, maxMs: 300_000 } as Backoff,
  blamed: { firstMs: 2000, maxMs: HOUR_MS } as Backoff,
};
export type ForwardingTimes = typeof TIMES & { readonly leaseMs: number };

/** Forwards events at least once, one process at a time (ADR 84). Logs and metrics have no personal data. */
@Injectable()
export class ForwardingProcessor implements OnApplicationBootstrap, BeforeApplicationShutdown {
  @Background()
  readonly work = new BackgroundWork({
    name: 'forwarding',
    everyMs: POLL_MS,
    run: (signal) => this.run(signal),
  });
  private readonly logger = new Logger(ForwardingProcessor.name);
  private readonly times: ForwardingTimes;
  /** The earliest time of the next request under the rate limit, on the clock of `performance.now()`. */
  private freeAt = 0;
  private readonly identities = new ThrottledIdentities();
  /** The lease, kept between runs, so that one process limits the rate of all requests. */
  private claimed: WorkItem | null = null;

  constructor(
    private readonly items: WorkItems,
    private readonly table: ForwardingStore,
    private readonly log: Log,
    @Inject(Analytics) private readonly analytics: Analytics | null,
    @Inject(trackingConfig.KEY) private readonly config: TrackingConfig,
    @Optional() times: Partial<ForwardingTimes> = {},
  ) {
    this.times = { leaseMs: config.analyticsTimeoutMs + LEASE_MARGIN_MS, ...TIMES, ...times };
  }

  onApplicationBootstrap(): void {
    if (!this.config.roles.includes('worker')) return;
    measureOnScrape(() => this.measure());
    this.logger.log(
      this.analytics === null
        ? 'analytics disabled: no provider configured, events are stored only'
        : `events are forwarded to ${this.analytics.name}`,
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.work.stop();
    if (this.claimed !== null) await this.items.extend(this.claimed, 0).catch(() => undefined);
  }

  private async measure(): Promise<void> {
    const { events, oldest, failures, cause } = await this.table.backlog();
    analyticsBacklog.set(events);
    analyticsBacklogAge.set(oldest === null ? 0 : Math.max(0, (Date.now() - oldest.getTime()) / 1000));
    analyticsUnavailable.reset();
    if (failures > 0 && cause !== null) analyticsUnavailable.set({ cause }, failures);
  }

  private async run(signal: AbortSignal): Promise<void> {
    const { analytics } = this;
    while (!signal.aborted && (await this.table.isDue())) {
      const state = await this.hold();
      if (state === null) return;
      if (analytics === null) {
        await this.table.skip();
        continue;
      }
      // Batches are sent singly after a failure, to find the one that causes it.
      const limit = state.failures > 0 ? 1 : MAX_BATCHES;
      const batches = (await this.table.due(limit)).map((row) => new PendingBatch(row));
      const end = await this.send(analytics, batches, signal);
      await this.finish(end, state, batches);
    }
  }

  /** Extends or claims the lease. Returns null while another process has it or the provider is in backoff. */
  private async hold(): Promise<WorkItem | null> {
    const { leaseMs } = this.times;
    if (this.claimed !== null && (await this.items.extend(this.claimed, leaseMs))) return this.claimed;
    const { items } = await this.items.claim({ kind: FORWARDING, limit: 1, leaseMs });
    return (this.claimed = items[0] ?? null);
  }

  private async send(
    analytics: Analytics,
    batches: readonly PendingBatch[],
    signal: AbortSignal,
  ): Promise<RoundEnd> {
    const { recordMs, leaseMs } = this.times;
    let recordAt = performance.now() + recordMs;
    const round = new ForwardingRound({
      analytics,
      identities: this.identities,
      maxEvents: this.config.analyticsEventsPerSecond,
      mayContinue: async () => {
        await sleep(Math.max(0, this.freeAt - performance.now()), signal);
        if (signal.aborted || performance.now() < recordAt) return !signal.aborted;
        recordAt = performance.now() + recordMs;
        await this.record(batches);
        return this.claimed !== null && this.items.extend(this.claimed, leaseMs);
      },
      sent: (result, events, durationMs) => this.sent(result, events, durationMs),
    });
    return round.run(batches);
  }

  private sent(result: SendResult, events: number, durationMs: number): void {
    const isAccepted = result.outcome === 'accepted';
    const outcome = result.outcome === 'unavailable' ? result.cause : result.outcome;
    analyticsRequests.inc({ outcome });
    if (result.outcome === 'parted') analyticsEvents.inc({ outcome: 'throttled' }, result.throttled.length);
    if (isAccepted) {
      analyticsEvents.inc({ outcome: 'forwarded' }, events);
      // The next request is delayed by the time that these events take at the permitted rate.
      const takesMs = (events * 1000) / this.config.analyticsEventsPerSecond;
      this.freeAt = Math.max(performance.now(), this.freeAt) + takesMs;
    }
    const fields = { outcome, events, duration_ms: Math.round(durationMs) };
    this.log.wideLog('events forwarded', fields, isAccepted ? 'info' : 'warn');
  }

  private async finish(
    { unavailable, responded }: RoundEnd,
    state: WorkItem,
    batches: readonly PendingBatch[],
  ): Promise<void> {
    const { failures, failing_seconds } = state;
    if (unavailable !== null && batches.length === 1) batches[0]!.blamed = true;
    await this.record(batches);
    if (unavailable !== null) {
      const { cause, detail, retryAfterMs } = unavailable;
      const pauseMs = Math.max(backoffMs(this.times.unavailable, failures), retryAfterMs ?? 0);
      await this.items.retry(state, { inMs: pauseMs, failure: { cause } });
      this.claimed = null;
      const fields = { cause, detail, failures: failures + 1, next_in_ms: Math.round(pauseMs) };
      const level = FOR_OPERATORS.includes(cause) ? 'error' : 'warn';
      this.log.wideLog('analytics provider unavailable', fields, level);
    } else if (responded && failures > 0) {
      await this.items.retry(state, { inMs: 0 });
      this.claimed = null;
      const fields = { cause: state.cause, failures, failing_seconds };
      this.log.wideLog('analytics provider recovered', fields);
    }
  }

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

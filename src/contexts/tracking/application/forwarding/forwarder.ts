import {
  Inject,
  Injectable,
  Logger,
  Optional,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { HOUR_MS } from '../../../../kernel/clock.js';
import { backoffMs, sleep, type Backoff } from '../../../../platform/jobs/backoff.js';
import { Background, BackgroundWork } from '../../../../platform/jobs/background-work.js';
import { WorkItems, type WorkItem } from '../../../../platform/jobs/work-items.js';
import { Log } from '../../../../platform/telemetry/logger.js';
import { measureOnScrape } from '../../../../platform/telemetry/metrics.js';
import {
  analyticsBacklog,
  analyticsBacklogAge,
  analyticsEvents,
  analyticsRequests,
  analyticsUnavailable,
} from '../../metrics.js';
import { trackingConfig, type TrackingConfig } from '../../settings.js';
import { FORWARDING, ForwardingTable, type DueBatch } from '../../store/forwarding-table.js';
import { ANALYTICS, type Analytics, type SendResult } from '../ports.js';
import { ForwardingRound, PendingBatch, ThrottledIdentities, type RoundEnd } from './forwarding-round.js';

const POLL_MS = 500;
const MAX_BATCHES = 512;
/** A lease outlives the longest request and a slow database. */
const LEASE_MARGIN_MS = 15_000;
/** Causes that need an operator. */
const FOR_OPERATORS: readonly string[] = ['unauthorized', 'misconfigured', 'forbidden'];

export interface ForwardingTimes {
  /** The time after which another process replaces a dead one; longer than a request. */
  readonly leaseMs: number;
  /** Results are recorded and the lease is extended at least this often. */
  readonly recordMs: number;
  readonly unavailable: Backoff;
  readonly blamed: Backoff;
}

/**
 * Sends new events of processed batches to the analytics provider, at least once, from one process at a time (ADR 84). Its
 * metrics and logs hold no names, ids of users or payloads.
 */
@Injectable()
export class Forwarder implements OnApplicationBootstrap, BeforeApplicationShutdown {
  @Background()
  readonly work = new BackgroundWork({
    name: 'forwarding',
    everyMs: POLL_MS,
    run: (signal) => this.run(signal),
  });
  private readonly logger = new Logger(Forwarder.name);
  private readonly times: ForwardingTimes;
  /** The time of the next request at this rate, on the clock of `performance.now()`. */
  private freeAt = 0;
  private readonly identities = new ThrottledIdentities();
  /** Kept between runs, so that one process limits the rate of all requests. */
  private claimed: WorkItem | null = null;

  constructor(
    private readonly items: WorkItems,
    private readonly table: ForwardingTable,
    private readonly log: Log,
    @Inject(ANALYTICS) private readonly analytics: Analytics | null,
    @Inject(trackingConfig.KEY) private readonly config: TrackingConfig,
    @Optional() times: Partial<ForwardingTimes> = {},
  ) {
    this.times = {
      leaseMs: config.analyticsTimeoutMs + LEASE_MARGIN_MS,
      recordMs: 5000,
      unavailable: { firstMs: 1000, maxMs: 300_000 },
      blamed: { firstMs: 2000, maxMs: HOUR_MS },
      ...times,
    };
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
      // The batches are sent one by one after a failure, so that the cause is found.
      const limit = state.failures > 0 ? 1 : MAX_BATCHES;
      const batches = await this.readable(await this.table.due(limit));
      const end = await this.send(analytics, batches, signal);
      await this.finish(end, state, batches);
    }
  }

  /** Takes the lease; null while another process forwards or the provider is in backoff. */
  private async hold(): Promise<WorkItem | null> {
    const { leaseMs } = this.times;
    if (this.claimed !== null && (await this.items.extend(this.claimed, leaseMs))) return this.claimed;
    const { items } = await this.items.claim({ kind: FORWARDING, limit: 1, leaseMs });
    return (this.claimed = items[0] ?? null);
  }

  /** A batch that cannot be read is retried later, after the others. */
  private async readable(rows: readonly DueBatch[]): Promise<PendingBatch[]> {
    const batches: PendingBatch[] = [];
    for (const row of rows) {
      try {
        batches.push(new PendingBatch(row));
      } catch {
        const { batch_id, merchant_id, forward_done, forward_attempts } = row;
        const error = 'the body cannot be read for forwarding';
        this.log.wideLog(`event batch not forwarded: ${error}`, { batch_id, merchant_id }, 'error');
        const delay_ms = backoffMs(this.times.blamed, forward_attempts);
        const result = { batch_id, done: forward_done, state: 'processed', delay_ms, error } as const;
        await this.table.record([{ ...result, is_failed: true }]);
      }
    }
    return batches;
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
      // The next request waits as long as the events of this one take at the rate.
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

  private async record(all: readonly PendingBatch[]): Promise<void> {
    const batches = all.filter(({ settled }) => !settled);
    const results = batches.map(({ row, done, finished, blamed, waitMs }) => {
      const delayMs = Math.max(waitMs ?? 0, blamed ? backoffMs(this.times.blamed, row.forward_attempts) : 0);
      return {
        batch_id: row.batch_id,
        done: done.bytes,
        state: finished ? ('forwarded' as const) : ('processed' as const),
        delay_ms: delayMs === 0 ? null : delayMs,
        is_failed: blamed,
        error: null,
      };
    });
    await this.table.record(
      results,
      batches.flatMap(({ refusals }) => refusals),
    );
    for (const batch of batches) {
      this.reportRefusals(batch);
      batch.refusals = [];
      batch.blamed = false;
      batch.settled = batch.finished;
    }
  }

  private reportRefusals({ row: { batch_id, merchant_id }, refusals }: PendingBatch): void {
    if (refusals.length === 0) return;
    analyticsEvents.inc({ outcome: 'refused' }, refusals.length);
    const reasons: Record<string, number> = {};
    for (const { reason } of refusals) reasons[reason] = (reasons[reason] ?? 0) + 1;
    const fields = { batch_id, merchant_id, events: refusals.length, reasons };
    this.log.wideLog('events refused by the analytics provider', fields, 'warn');
  }
}

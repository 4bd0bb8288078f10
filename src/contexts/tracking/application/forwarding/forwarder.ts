import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { HOUR_MS } from '../../../../kernel/clock.js';
import { backoffMs, sleep, type Backoff } from '../../../../platform/jobs/backoff.js';
import { Background, BackgroundWork } from '../../../../platform/jobs/background-work.js';
import { measureOnScrape } from '../../../../platform/telemetry/metrics.js';
import { WorkItems, type WorkItem } from '../../../../platform/jobs/work-items.js';
import { ANALYTICS, type Analytics, type SendResult } from '../ports.js';
import { PendingBatch, RateLimit, ThrottledIdentities } from './request-limits.js';
import { ForwardingObserver } from './forwarding-observer.js';
import { FORWARDING, ForwardingTable, type DueBatch } from '../../store/forwarding-table.js';
import { ForwardingRound, type RoundEnd } from './forwarding-round.js';
import { trackingConfig, type TrackingConfig } from '../../settings.js';

const POLL_MS = 500;
const MAX_BATCHES = 512;

export interface ForwardingTimes {
  /** After this another process replaces one that died; longer than a request. */
  readonly leaseMs: number;
  /** Results are recorded and the lease is extended at least this often. */
  readonly recordMs: number;
  readonly unavailable: Backoff;
  readonly blamed: Backoff;
}

const LEASE_MARGIN_MS = 15_000;

const DEFAULT_TIMES: ForwardingTimes = {
  leaseMs: 25_000,
  recordMs: 5000,
  unavailable: { firstMs: 1000, maxMs: 300_000 },
  blamed: { firstMs: 2000, maxMs: HOUR_MS },
};

/** A lease outlives the longest request and a slow database. */
export function timesFor({ analyticsTimeoutMs }: TrackingConfig): ForwardingTimes {
  return { ...DEFAULT_TIMES, leaseMs: analyticsTimeoutMs + LEASE_MARGIN_MS };
}

export const FORWARDING_TIMES = Symbol('FORWARDING_TIMES');

/** Sends new events of processed batches to the analytics provider, at least once, from one process at a time (ADR 84). */
@Injectable()
export class Forwarder implements OnApplicationBootstrap, BeforeApplicationShutdown {
  @Background()
  readonly work = new BackgroundWork({
    name: 'forwarding',
    everyMs: POLL_MS,
    run: (signal) => this.run(signal),
  });
  private readonly log = new Logger(Forwarder.name);
  private readonly active: boolean;
  private readonly rate: RateLimit;
  private readonly identities = new ThrottledIdentities();
  /** Batches of the next round: one after a failure, twice as many after each round without. */
  private batchLimit = MAX_BATCHES;
  /** Kept between runs, so that one process limits the rate of all requests. */
  private claimed: WorkItem | null = null;

  constructor(
    private readonly items: WorkItems,
    private readonly table: ForwardingTable,
    private readonly observer: ForwardingObserver,
    @Inject(ANALYTICS) private readonly analytics: Analytics | null,
    @Inject(FORWARDING_TIMES) private readonly times: ForwardingTimes,
    @Inject(trackingConfig.KEY) config: TrackingConfig,
  ) {
    this.active = config.roles.includes('worker');
    this.rate = new RateLimit(config.analyticsEventsPerSecond);
  }

  onApplicationBootstrap(): void {
    if (!this.active) return;
    measureOnScrape(async () => this.observer.measured(await this.table.backlog()));
    this.log.log(
      this.analytics === null
        ? 'analytics disabled: no provider configured, events are stored only'
        : `events are forwarded to ${this.analytics.name}`,
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (!this.active) return;
    await this.work.stop();
    if (this.claimed !== null) await this.items.extend(this.claimed, 0).catch(() => undefined);
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
      if (state.failures > 0) this.batchLimit = 1;
      const batches = await this.readable(await this.table.due(this.batchLimit));
      const end = await this.send(analytics, batches, signal);
      await this.finish(end, state, batches);
    }
  }

  /** Null while another process forwards or the provider is in backoff. */
  private async hold(): Promise<WorkItem | null> {
    const { leaseMs } = this.times;
    if (this.claimed !== null && (await this.items.extend(this.claimed, leaseMs))) return this.claimed;
    const { items } = await this.items.claim({ kind: FORWARDING, limit: 1, leaseMs });
    return (this.claimed = items[0] ?? null);
  }

  /** Batches that cannot be read are deferred. */
  private async readable(rows: readonly DueBatch[]): Promise<PendingBatch[]> {
    const batches: PendingBatch[] = [];
    for (const row of rows) {
      try {
        batches.push(new PendingBatch(row));
      } catch {
        this.observer.unreadable(row);
        await this.table.defer(row, backoffMs(this.times.blamed, row.forward_attempts));
      }
    }
    return batches;
  }

  private async send(
    analytics: Analytics,
    batches: readonly PendingBatch[],
    signal: AbortSignal,
  ): Promise<RoundEnd> {
    let recordAt = performance.now() + this.times.recordMs;
    const round = new ForwardingRound({
      analytics,
      identities: this.identities,
      maxEvents: this.rate.perSecond,
      mayContinue: async () => {
        await sleep(this.rate.waitMs(performance.now()), signal);
        if (signal.aborted || performance.now() < recordAt) return !signal.aborted;
        recordAt = performance.now() + this.times.recordMs;
        await this.record(batches);
        return this.claimed !== null && this.items.extend(this.claimed, this.times.leaseMs);
      },
      sent: (result: SendResult, events: number, durationMs: number) => {
        this.observer.sent(result, events, durationMs);
        if (result.outcome === 'accepted') this.rate.count(events, performance.now());
      },
    });
    return round.run(batches);
  }

  private async finish(
    { unavailable, responded }: RoundEnd,
    state: WorkItem,
    batches: readonly PendingBatch[],
  ): Promise<void> {
    // After a failure batches are sent one by one, so that the cause is found.
    if (unavailable !== null && batches.length === 1) batches[0]!.blamed = true;
    await this.record(batches);
    if (unavailable !== null) {
      const pauseMs = Math.max(
        backoffMs(this.times.unavailable, state.failures),
        unavailable.retryAfterMs ?? 0,
      );
      this.batchLimit = 1;
      await this.items.retry(state, { inMs: pauseMs, failure: { cause: unavailable.cause } });
      this.claimed = null;
      this.observer.unavailable(unavailable, state, pauseMs);
    } else if (responded) {
      this.batchLimit = Math.min(MAX_BATCHES, this.batchLimit * 2);
      if (state.failures === 0) return;
      await this.items.retry(state, { inMs: 0 });
      this.claimed = null;
      this.observer.back(state);
    }
  }

  private async record(all: readonly PendingBatch[]): Promise<void> {
    const batches = all.filter((batch) => !batch.settled);
    await this.table.record(batches, (attempts) => backoffMs(this.times.blamed, attempts));
    this.observer.recorded(batches);
    for (const batch of batches) {
      batch.refusals = [];
      batch.blamed = false;
      batch.settled = batch.finished;
    }
  }
}

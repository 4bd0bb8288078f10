import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { backoffMs, pause, type Backoff } from '../../../../platform/background/backoff.js';
import { BackgroundWork } from '../../../../platform/background/background-work.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { failpoint } from '../../../../platform/failpoints.js';
import { measureOnScrape } from '../../../../platform/telemetry/metrics.js';
import { WorkItems, type WorkItem } from '../../../../platform/work/work-items.js';
import { ANALYTICS, type Analytics, type SendResult } from '../ports.js';
import { BatchInHand } from './batch-in-hand.js';
import { ForwardingObserver } from './forwarding-observer.js';
import { FORWARDING, ForwardingTable, type DueBatch } from '../../store/forwarding-table.js';
import { Pace } from './pace.js';
import { ThrottledIdentities } from './throttled-identities.js';
import { grouped, Turn, type TurnEnd } from './turn.js';

const POLL_MS = 500;
const HOUR_MS = 3_600_000;
/** Batches of one turn. */
const MOST_BATCHES = 512;

/** The times of the forwarder, in milliseconds. */
export interface ForwardingTimes {
  /** A process that forwards and dies is replaced after this; more than a request may take. */
  readonly leaseMs: number;
  /** What was sent is recorded, and the lease kept, at least this often. */
  readonly recordMs: number;
  /** Between tries of a provider that is unavailable. */
  readonly unavailable: Backoff;
  /** Between tries of a batch that may be why a request failed. */
  readonly blamed: Backoff;
}

const LEASE_MARGIN_MS = 15_000;

export const DEFAULT_TIMES: ForwardingTimes = {
  leaseMs: 25_000,
  recordMs: 5000,
  unavailable: { firstMs: 1000, mostMs: 300_000 },
  blamed: { firstMs: 2000, mostMs: HOUR_MS },
};

/** A lease outlives a request of the longest kind, what is recorded before it, and a slow database besides. */
export function timesFor({ analyticsTimeoutMs }: Pick<Config, 'analyticsTimeoutMs'>): ForwardingTimes {
  return { ...DEFAULT_TIMES, leaseMs: analyticsTimeoutMs + LEASE_MARGIN_MS };
}

/** Nest injection token of the {@link ForwardingTimes}. */
export const FORWARDING_TIMES = Symbol('FORWARDING_TIMES');

/**
 * Passes the new events of processed batches on to the analytics provider, at least once each, from one process at a
 * time (ADR 84). No request of a merchant waits for it.
 */
@Injectable()
export class Forwarder implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly work = new BackgroundWork({
    name: 'forwarding',
    everyMs: POLL_MS,
    run: (signal) => this.run(signal),
  });
  private readonly log = new Logger(Forwarder.name);
  private readonly active: boolean;
  private readonly pace: Pace;
  private readonly identities = new ThrottledIdentities();
  /** How many batches a turn takes: one after a failure, twice as many after each turn without. */
  private most = MOST_BATCHES;
  /** The right to forward; kept between two runs, so that one process paces the requests of all. */
  private claimed: WorkItem | null = null;

  constructor(
    private readonly items: WorkItems,
    private readonly table: ForwardingTable,
    private readonly observer: ForwardingObserver,
    @Inject(ANALYTICS) private readonly analytics: Analytics | null,
    @Inject(FORWARDING_TIMES) private readonly times: ForwardingTimes,
    @Inject(CONFIG) config: Pick<Config, 'roles' | 'analyticsEventsPerSecond'>,
  ) {
    this.active = config.roles.includes('worker');
    this.pace = new Pace(config.analyticsEventsPerSecond);
  }

  onApplicationBootstrap(): void {
    if (!this.active) return;
    measureOnScrape(async () => this.observer.measured(await this.table.backlog()));
    this.log.log(
      this.analytics === null
        ? 'no analytics provider is configured: events are kept and not passed on'
        : `events are passed on to ${this.analytics.name}`,
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (!this.active) return;
    await this.work.stop();
    // Else the next one waits for the lease to end.
    if (this.claimed !== null) await this.items.extend(this.claimed, 0).catch(() => undefined);
  }

  private async run(signal: AbortSignal): Promise<void> {
    const { analytics } = this;
    while (!signal.aborted && (await this.table.isDue())) {
      const state = await this.hold();
      if (state === null) return;
      if (analytics === null) {
        await this.table.passBy();
        continue;
      }
      if (state.failures > 0) this.most = 1;
      const batches = await this.taken(await this.table.due(this.most));
      failpoint('forwarding.read');
      const end = await this.turn(analytics, batches, signal);
      await this.judge(end, state, batches);
    }
  }

  /** Null when another process forwards, or the provider is left alone. */
  private async hold(): Promise<WorkItem | null> {
    const { leaseMs } = this.times;
    if (this.claimed !== null && (await this.items.extend(this.claimed, leaseMs))) return this.claimed;
    const { items } = await this.items.claim({ kind: FORWARDING, limit: 1, leaseMs });
    return (this.claimed = items[0] ?? null);
  }

  /** The batches that are due, read; one that cannot be read is put off. */
  private async taken(rows: readonly DueBatch[]): Promise<BatchInHand[]> {
    const batches: BatchInHand[] = [];
    for (const row of rows) {
      try {
        batches.push(new BatchInHand(row));
      } catch {
        this.observer.unreadable(row);
        await this.table.defer(row, backoffMs(this.times.blamed, row.forward_attempts));
      }
    }
    return batches;
  }

  private async turn(
    analytics: Analytics,
    batches: readonly BatchInHand[],
    signal: AbortSignal,
  ): Promise<TurnEnd> {
    let recordAt = performance.now() + this.times.recordMs;
    const turn = new Turn({
      analytics,
      identities: this.identities,
      most: this.pace.most,
      mayGoOn: async () => {
        await pause(this.pace.waitMs(performance.now()), signal);
        if (signal.aborted || performance.now() < recordAt) return !signal.aborted;
        recordAt = performance.now() + this.times.recordMs;
        await this.record(batches);
        return this.claimed !== null && this.items.extend(this.claimed, this.times.leaseMs);
      },
      sent: (result: SendResult, events: number, durationMs: number) => {
        failpoint('forwarding.sent');
        this.observer.sent(result, events, durationMs);
        if (result.outcome === 'accepted') this.pace.taken(events, performance.now());
      },
    });
    return turn.run(grouped(batches));
  }

  private async judge(
    { unavailable, responded }: TurnEnd,
    state: WorkItem,
    batches: readonly BatchInHand[],
  ): Promise<void> {
    // Of several nobody knows which it was; after a failure they are tried one by one.
    if (unavailable !== null && batches.length === 1) batches[0]!.blamed = true;
    await this.record(batches);
    if (unavailable !== null) {
      const pauseMs = Math.max(
        backoffMs(this.times.unavailable, state.failures),
        unavailable.retryAfterMs ?? 0,
      );
      this.most = 1;
      await this.items.retry(state, { inMs: pauseMs, failure: { cause: unavailable.cause } });
      this.claimed = null;
      this.observer.unavailable(unavailable, state, pauseMs);
    } else if (responded) {
      this.most = Math.min(MOST_BATCHES, this.most * 2);
      if (state.failures === 0) return;
      await this.items.retry(state, { inMs: 0 });
      this.claimed = null;
      this.observer.back(state);
    }
  }

  private async record(all: readonly BatchInHand[]): Promise<void> {
    const batches = all.filter((batch) => !batch.settled);
    await this.table.record(batches, (attempts) => backoffMs(this.times.blamed, attempts));
    failpoint('forwarding.recorded');
    this.observer.recorded(batches);
    for (const batch of batches) {
      batch.refusals = [];
      batch.settled = batch.finished;
    }
  }
}

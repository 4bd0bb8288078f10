import { setMaxListeners } from 'node:events';
import { Logger } from '@nestjs/common';
import { waitForRetry } from '../jobs/backoff.js';
import { ChangeNotifier } from '../jobs/group-call.js';
import { followLog } from '../event-store/log-pages.js';
import { comparePositions, type EventStore, type RecordedEvent } from '../event-store/port.js';

const MAX_RETAINED = 512;
const OUTAGE = { firstMs: 50, maxMs: 2000 };
/** The time after which a failure starts a new outage: the maximum delay plus the timeout of a read. */
const SEPARATE_MS = 60_000;

/** Reads new events once for all subscriptions of this process. A subscription that lags reads the store. */
export class EventFeed {
  private readonly logger = new Logger(EventFeed.name);
  private readonly arrived = new ChangeNotifier();
  private readonly closing = new AbortController();
  /** The events after `from` up to `to`. */
  private retained: RecordedEvent[] = [];
  private from: string | null = null;
  private to: string | null = null;
  /** True while a forged event follows `to`. Subscriptions then read from the store. */
  private isBlocked = false;
  private running: Promise<void> | null = null;

  constructor(private readonly store: EventStore) {
    // Each waiting subscription adds a listener.
    setMaxListeners(0, this.closing.signal);
  }

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.closing.abort();
    await this.running;
  }

  /** Returns up to `limit` events after `position`, and waits up to `timeoutMs` for the first. */
  async after(position: string | null, limit: number, timeoutMs: number): Promise<readonly RecordedEvent[]> {
    const version = this.arrived.version;
    const known = this.slice(position, limit);
    if (known === 'behind' || (known.length === 0 && this.isBlocked)) {
      const events = await this.store.readAll(position, limit);
      if (events.length > 0) return events;
    } else if (known.length > 0) return known;
    await this.arrived.changedSince(version, timeoutMs, this.closing.signal);
    const news = this.slice(position, limit);
    return news === 'behind' ? [] : news;
  }

  private slice(position: string | null, limit: number): readonly RecordedEvent[] | 'behind' {
    if (comparePositions(position, this.from) < 0) return 'behind';
    if (comparePositions(position, this.to) >= 0) return [];
    const first = this.retained.findIndex((event) => comparePositions(event.position, position) > 0);
    return this.retained.slice(first, first + limit);
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    let failedAt = -Infinity;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        if (this.to === null) this.from = this.to = await this.store.head();
        for await (const events of followLog(this.store, this.to, signal)) {
          const forged = events.findIndex(({ isForged }) => isForged);
          this.isBlocked = forged >= 0;
          this.keep(forged < 0 ? events : events.slice(0, forged));
          if (this.isBlocked) break;
          failures = 0;
        }
      } catch (err) {
        // A failure after a long interval is retried without backoff.
        if (performance.now() - failedAt > SEPARATE_MS) failures = 0;
        failedAt = performance.now();
        // A subscription that is up to date reads nothing, so only the feed reports this failure.
        if (!signal.aborted) this.logger.warn({ msg: 'event feed failed, reading again', failures, err });
      }
      await waitForRetry(OUTAGE, failures, signal);
    }
  }

  private keep(events: readonly RecordedEvent[]): void {
    this.retained.push(...events);
    this.to = events.at(-1)?.position ?? this.to;
    if (this.retained.length > MAX_RETAINED) {
      const dropped = this.retained.splice(0, this.retained.length - MAX_RETAINED);
      this.from = dropped.at(-1)!.position;
    }
    this.arrived.notify();
  }
}

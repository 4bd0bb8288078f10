import { waitForRetry, sleep } from '../jobs/backoff.js';
import type { ChangeNotifier } from '../jobs/group-call.js';
import { EventStoreUnavailable, type RecordedEvent, type Subscription } from './port.js';

const BATCH = 1000;
/** The minimum delay between polls, so that events batch under load. */
const REST_MS = 10;
const POLL_MS = 25;
const IDLE_POLL_MS = 100;
/** Polls without an event before they become rarer. */
const MAX_FAST_POLLS = 40;
const OUTAGE = { firstMs: 50, maxMs: 2000 };

/**
 * A subscription for stores whose positions are in commit order: it reads on from the last position, at once when
 * `committed` says that this process wrote, and by polling for what others wrote. It outlives outages of the store.
 */
export class PollingSubscription implements Subscription {
  private readonly closing = new AbortController();

  constructor(
    private readonly read: (after: string | null, limit: number) => Promise<readonly RecordedEvent[]>,
    private readonly committed: ChangeNotifier,
    private readonly after: string | null,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    let position = this.after;
    let failures = 0;
    let idle = 0;
    let readAt = -Infinity;
    while (!this.closing.signal.aborted) {
      const restMs = REST_MS - (performance.now() - readAt);
      if (restMs > 0) await sleep(restMs, this.closing.signal);
      readAt = performance.now();
      const version = this.committed.version;
      let events: readonly RecordedEvent[];
      try {
        events = await this.read(position, BATCH);
      } catch (error) {
        if (!(error instanceof EventStoreUnavailable)) throw error;
        await waitForRetry(OUTAGE, failures, this.closing.signal);
        failures += 1;
        continue;
      }
      failures = 0;
      if (this.closing.signal.aborted) return;
      if (events.length > 0) {
        idle = 0;
        position = events.at(-1)!.position;
        yield events;
        // Less than a page: all there was. What came since woke us already, or is polled for.
        if (events.length < BATCH) await this.committed.changedSince(version, POLL_MS, this.closing.signal);
      } else {
        idle += 1;
        const pollMs = idle < MAX_FAST_POLLS ? POLL_MS : IDLE_POLL_MS;
        await this.committed.changedSince(version, pollMs, this.closing.signal);
      }
    }
  }

  async close(): Promise<void> {
    this.closing.abort();
  }
}

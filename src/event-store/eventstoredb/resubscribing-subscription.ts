import {
  excludeSystemEvents,
  START,
  type AllStreamSubscription,
  type EventStoreDBClient,
} from '@eventstore/db-client';
import { backOff } from '../backoff.js';
import type { RecordedEvent, Subscription } from '../port.js';
import { toReadPosition, toRecordedEvent } from './wire.js';

const OUTAGE = { firstMs: 100, mostMs: 5000 };

/**
 * A subscription to all streams that outlives its connection. The client's own never subscribes again and is not
 * destroyed when it fails: here it is destroyed, and after a pause another one starts where the last event was.
 */
export class ResubscribingSubscription implements Subscription {
  private readonly closing = new AbortController();
  private current: AllStreamSubscription | null = null;

  constructor(
    private readonly client: EventStoreDBClient,
    private readonly after: string | null,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    let position = this.after;
    for (let failures = 0; !this.closing.signal.aborted; failures += 1) {
      this.current = this.client.subscribeToAll({
        fromPosition: position === null ? START : toReadPosition(position),
        filter: excludeSystemEvents(),
      });
      // After it is destroyed a late error must not count as unhandled.
      this.current.on('error', () => undefined);
      try {
        for await (const resolved of this.current) {
          failures = 0;
          const event = toRecordedEvent(resolved);
          if (event === null) continue;
          position = event.position;
          yield [event];
        }
      } catch {
        // Whatever ended it, the remedy is the same.
      } finally {
        this.end();
      }
      await backOff(OUTAGE, failures, this.closing.signal);
    }
  }

  async close(): Promise<void> {
    this.closing.abort();
    this.end();
  }

  private end(): void {
    const { current } = this;
    this.current = null;
    if (current === null) return;
    current.unsubscribe().catch(() => undefined);
    current.destroy();
  }
}

import { once } from 'node:events';
import { Logger } from '@nestjs/common';
import {
  excludeSystemEvents,
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
  type ReadPosition,
} from '@eventstore/db-client';
import { waitForRetry, sleep } from '../../jobs/backoff.js';
import { comparePositions, type RecordedEvent, type Subscription } from '../port.js';
import type { Connection } from './connection.js';
import { EventStoreRefusal, refusal } from './failures.js';
import type { Positions } from './positions.js';
import { toRecordedEvent } from './wire.js';

const OUTAGE = { firstMs: 100, maxMs: 5000 };
const BATCH = 1000;
/** The minimum delay between batches under load, so that events gather. */
const REST_MS = 10;

/**
 * A subscription to all streams that outlives its connection. The client's own never subscribes again and is not
 * destroyed when it fails: here it is destroyed, and after a pause another one starts where the last event was.
 * What has arrived comes as one batch, so that it is applied in one transaction.
 */
export class ResubscribingSubscription implements Subscription {
  private readonly logger = new Logger(ResubscribingSubscription.name);
  private readonly closing = new AbortController();
  private current: AllStreamSubscription | null = null;

  constructor(
    private readonly connection: Connection,
    private readonly after: string | null,
    private readonly positions: () => Promise<Positions>,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    let position = this.after;
    for (let failures = 0; !this.closing.signal.aborted; failures += 1) {
      try {
        const positions = await this.positions();
        const source = this.open(positions.startAfter(position));
        for await (const arrived of this.batches(source, positions.shift)) {
          failures = 0;
          const events = arrived.filter((event) => comparePositions(event.position, position) > 0);
          if (events.length === 0) continue;
          position = events.at(-1)!.position;
          yield events;
        }
      } catch (error) {
        if (!this.closing.signal.aborted) this.report(error, failures);
      } finally {
        this.end();
      }
      await waitForRetry(OUTAGE, failures, this.closing.signal);
    }
  }

  async close(): Promise<void> {
    this.closing.abort();
    this.end();
  }

  /** Ends what is open; another one starts where the last event was. */
  restart(): void {
    this.end();
  }

  private open(fromPosition: ReadPosition): AllStreamSubscription {
    const source = this.connection.client.subscribeToAll(
      {
        fromPosition,
        filter: excludeSystemEvents(),
        requiresLeader: true,
      },
      { highWaterMark: BATCH },
    );
    // A late error must not count as unhandled after the source is destroyed.
    source.on('error', () => undefined);
    this.current = source;
    return source;
  }

  /** Ends with the subscription; throws what ended it. */
  private async *batches(
    source: AllStreamSubscription,
    shift: bigint,
  ): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    const { signal } = this.closing;
    // The listener exists from the start: an error between two waits would be missed.
    const failed = new Promise<never>((_, reject) => source.once('error', reject));
    failed.catch(() => undefined);
    const over = Promise.race([failed, once(source, 'close', { signal })]);
    over.catch(() => undefined);
    let restUntil = 0;
    while (!signal.aborted && !source.destroyed) {
      const restMs = restUntil - performance.now();
      if (restMs > 0) await sleep(restMs, signal);
      const events = waiting(source, shift);
      if (events.length > 0) {
        restUntil = performance.now() + REST_MS;
        yield events;
      } else {
        await Promise.race([once(source, 'readable', { signal }), over]);
      }
    }
  }

  private report(error: unknown, failures: number): void {
    const reason = refusal(error);
    const err = reason === null ? error : new EventStoreRefusal(reason, { cause: error });
    this.logger.warn({ msg: 'event store subscription ended: starting again', failures, err });
  }

  private end(): void {
    const { current } = this;
    this.current = null;
    if (current === null) return;
    current.unsubscribe().catch(() => undefined);
    current.resume();
    current.destroy();
  }
}

/** Returns the events that have arrived, at most a batch. */
function waiting(source: AllStreamSubscription, shift: bigint): readonly RecordedEvent[] {
  const events: RecordedEvent[] = [];
  while (events.length < BATCH) {
    const resolved = source.read() as AllStreamResolvedEvent | null;
    if (resolved === null) break;
    const event = toRecordedEvent(resolved, shift);
    if (event !== null) events.push(event);
  }
  return events;
}

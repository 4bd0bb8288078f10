import {
  BACKWARDS,
  EventStoreDBClient,
  FORWARDS,
  START,
  END,
  WrongExpectedVersionError,
  type AllStreamResolvedEvent,
  type AppendResult,
  type Direction,
  type Position,
  type ReadPosition,
  type StreamingRead,
} from '@eventstore/db-client';
import { failpoint } from '../../platform/failpoints.js';
import type { CommitObservers } from '../commit-observer.js';
import {
  comparePositions,
  type Commit,
  type CommitResult,
  type EventStore,
  type ReadOptions,
  type RecordedEvent,
  type StreamAppend,
  type Subscription,
} from '../port.js';
import { isNoStream, persevere } from './failures.js';
import { ResubscribingSubscription } from './resubscribing-subscription.js';
import { toEventData, toExpectedRevision, toReadPosition, toRecordedEvent } from './wire.js';

/** Events of one read of the log. */
const PAGE = 500;

/** One append as it stands in the store. */
interface Done {
  readonly revision: number;
  readonly position: string | null;
}

interface Conflict {
  readonly actual: number | null;
}

/** Connects to the server of an `esdb://` URL on first use. */
export function openEventStoreDb(url: string, observers: CommitObservers): EventStoreDbEventStore {
  return new EventStoreDbEventStore(EventStoreDBClient.connectionString(url), observers);
}

/** Events in EventStoreDB 24.6. Each append of a commit stands alone, in order; answers cannot travel along. */
export class EventStoreDbEventStore implements EventStore {
  readonly atomic = false;
  readonly carriesAnswers = false;
  private readonly open = new Set<Subscription>();

  constructor(
    private readonly client: EventStoreDBClient,
    private readonly observers: CommitObservers,
  ) {}

  async commit({ appends, answer }: Commit): Promise<CommitResult> {
    if (answer !== undefined) throw new Error('EventStoreDB carries no answers');
    const done: Done[] = [];
    for (const append of appends.filter(({ events }) => events.length === 0)) {
      const actual = await this.headOf(append.stream);
      if (!isExpected(append, actual)) return { outcome: 'conflict', stream: append.stream, actual };
    }
    for (const append of appends) {
      const result = await this.append(append);
      if ('actual' in result) return { outcome: 'conflict', stream: append.stream, actual: result.actual };
      done.push(result);
    }
    const position = done.findLast((each) => each.position !== null)?.position ?? null;
    return { outcome: 'committed', position, revisions: done.map(({ revision }) => revision) };
  }

  async readStream(
    stream: string,
    { fromRevision = 0 }: ReadOptions = {},
  ): Promise<readonly RecordedEvent[]> {
    return persevere(async () => {
      const events: RecordedEvent[] = [];
      try {
        for await (const each of cancelling(
          this.client.readStream(stream, { fromRevision: BigInt(fromRevision) }),
        )) {
          const event = toRecordedEvent(each);
          if (event !== null) events.push(event);
        }
      } catch (error) {
        if (!isNoStream(error)) throw error;
      }
      return events;
    });
  }

  async readAll(after: string | null, limit: number): Promise<readonly RecordedEvent[]> {
    return persevere(async () => {
      const events: RecordedEvent[] = [];
      for await (const each of this.scan(FORWARDS, after === null ? START : toReadPosition(after))) {
        const event = toRecordedEvent(each);
        // A page begins with the event at its position, not after it.
        const last = events.at(-1)?.position ?? after;
        if (event === null || comparePositions(event.position, last) <= 0) continue;
        if (events.push(event) >= limit) break;
      }
      return events;
    });
  }

  subscribe(after: string | null): Subscription {
    const subscription = new ResubscribingSubscription(this.client, after);
    this.open.add(subscription);
    return subscription;
  }

  async head(): Promise<string | null> {
    return persevere(async () => {
      for await (const each of this.scan(BACKWARDS, END)) {
        const event = toRecordedEvent(each);
        if (event !== null) return event.position;
      }
      return null;
    });
  }

  async ping(): Promise<void> {
    await persevere(async () => {
      for await (const each of this.scan(BACKWARDS, END)) if (each) return;
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.open].map((subscription) => subscription.close()));
    await this.client.dispose();
  }

  /** Everything in the log from a position on, the server's own events too, page by page. */
  private async *scan(
    direction: Direction,
    from: ReadPosition,
  ): AsyncGenerator<AllStreamResolvedEvent, void, undefined> {
    for (let fromPosition: ReadPosition | undefined = from; fromPosition !== undefined;) {
      let count = 0;
      let last: Position | undefined;
      for await (const each of cancelling(this.client.readAll({ fromPosition, direction, maxCount: PAGE }))) {
        count += 1;
        last = (each.link ?? each.event)?.position;
        yield each;
      }
      fromPosition = count < PAGE ? undefined : last;
    }
  }

  private async append({ stream, events, expected }: StreamAppend): Promise<Done | Conflict> {
    if (events.length === 0) return { revision: (await this.headOf(stream)) ?? -1, position: null };
    const started = performance.now();
    let result: AppendResult;
    try {
      result = await persevere(() => {
        const sent = this.client.appendToStream(stream, events.map(toEventData), {
          expectedRevision: toExpectedRevision(expected),
        });
        setImmediate(() => failpoint('commit.sent'));
        return sent;
      });
    } catch (error) {
      if (!(error instanceof WrongExpectedVersionError)) throw error;
      return this.earlier(
        stream,
        events.map(({ id }) => id),
      );
    }
    this.observers.onCommit(performance.now() - started, 1);
    const revision = Number(result.nextExpectedRevision);
    const { position } = result;
    if (events.length === 1 && position !== undefined)
      return { revision, position: position.commit.toString() };
    // Of several events the server does not say clearly whose position it tells.
    const [last] = await this.readStream(stream, { fromRevision: revision });
    return { revision, position: last?.position ?? null };
  }

  /** The server knows a repeat only while the expectation is the one of the first time: here every repeat counts. */
  private async earlier(stream: string, ids: readonly string[]): Promise<Done | Conflict> {
    const events = await this.readStream(stream);
    const known = events.filter(({ id }) => ids.includes(id));
    const last = known.at(-1);
    if (last !== undefined && known.length === ids.length)
      return { revision: last.revision, position: last.position };
    return { actual: events.at(-1)?.revision ?? null };
  }

  private async headOf(stream: string): Promise<number | null> {
    return persevere(async () => {
      try {
        const read = this.client.readStream(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 });
        for await (const { event } of read) if (event) return Number(event.revision);
      } catch (error) {
        if (!isNoStream(error)) throw error;
      }
      return null;
    });
  }
}

function isExpected({ expected }: StreamAppend, actual: number | null): boolean {
  if (expected === 'any') return true;
  if (expected === 'no_stream') return actual === null;
  if (expected === 'stream_exists') return actual !== null;
  return expected === actual;
}

/** Ends the call when the consumer stops early; left alone it would fail at its deadline, with nobody listening. */
async function* cancelling<E>(read: StreamingRead<E>): AsyncGenerator<E, void, undefined> {
  read.on('error', () => undefined);
  try {
    yield* read;
  } finally {
    read.cancel().catch(() => undefined);
  }
}

import {
  BACKWARDS,
  END,
  FORWARDS,
  START,
  WrongExpectedVersionError,
  type AllStreamResolvedEvent,
  type AppendResult,
  type Direction,
  type Position,
  type ReadPosition,
  type ReadRevision,
  type ResolvedEvent,
} from '@eventstore/db-client';
import { newId } from '../../../kernel/ids.js';
import { QUERY_TIMEOUT_MS } from '../../postgres/session-settings.js';
import { failpoint } from '../../failpoints.js';
import { appendDuration, appendUnits } from '../../telemetry/metrics.js';
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
import { Connection } from './connection.js';
import { inTime, isNoStream, NotReadableYet, retryWhileUnavailable } from './failures.js';
import { BUFFERED, readUntil, Tail } from './reading.js';
import { Positions } from './positions.js';
import { ResubscribingSubscription } from './resubscribing-subscription.js';
import {
  COPIED_STREAM,
  IDENTITY_STREAM,
  IDENTITY_TYPE,
  toEventData,
  toExpectedRevision,
  toRecordedEvent,
} from './wire.js';

/** Events of one read of the log. */
const PAGE = 1000;
/** The number of events back in which an append searches its own: a repeat follows soon. */
const REPEATS_WITHIN = 100;
/** The time in which the client may end open calls. Then the process continues without it. */
const CLOSE_TIMEOUT_MS = 1000;

/** One append in the store. */
interface Done {
  readonly revision: number;
  readonly position: string | null;
}

interface Conflict {
  readonly actual: number | null;
}

export function openEventStoreDb(url: string, timeoutMs?: number): EventStoreDbEventStore {
  return new EventStoreDbEventStore(new Connection(url), timeoutMs);
}

/** Events in EventStoreDB 24.6. Appends of a commit are written one by one, in order; responses cannot travel along. */
export class EventStoreDbEventStore implements EventStore {
  readonly atomic = false;
  readonly carriesResponses = false;
  private readonly open = new Set<ResubscribingSubscription>();
  private readonly tail = new Tail();
  private known: Promise<Positions> | null = null;
  /** That of the positions, which every boot reads with the identity: an append that is in the log must not fail for it. */
  private shift = 0n;

  constructor(
    private readonly connection: Connection,
    private readonly timeoutMs = QUERY_TIMEOUT_MS,
  ) {}

  async commit({ appends, response }: Commit): Promise<CommitResult> {
    if (response !== undefined) throw new Error('EventStoreDB carries no responses');
    const done: Done[] = [];
    const checked = new Map<StreamAppend, Done>();
    for (const append of appends.filter(({ events }) => events.length === 0)) {
      const result = await this.check(append);
      if ('actual' in result) return { outcome: 'conflict', stream: append.stream, actual: result.actual };
      checked.set(append, result);
    }
    for (const append of appends) {
      const result = checked.get(append) ?? (await this.append(append));
      if ('actual' in result) return { outcome: 'conflict', stream: append.stream, actual: result.actual };
      done.push(result);
    }
    const position = done.findLast((each) => each.position !== null)?.position ?? null;
    return { outcome: 'committed', position, revisions: done.map(({ revision }) => revision) };
  }

  async readStream(
    stream: string,
    { fromRevision = 0, lastOnly = false }: ReadOptions = {},
  ): Promise<readonly RecordedEvent[]> {
    if (!lastOnly) return this.readOne(stream, FORWARDS, BigInt(fromRevision));
    return (await this.readOne(stream, BACKWARDS, END, 1)).filter(({ revision }) => revision >= fromRevision);
  }

  async readAll(after: string | null, limit: number): Promise<readonly RecordedEvent[]> {
    const positions = await this.positions();
    return this.retrying(async (attemptMs) => {
      const events: RecordedEvent[] = [];
      const from = this.tail.startAfter(after, positions.shift) ?? positions.startAfter(after);
      const scanned = await this.scan(attemptMs, FORWARDS, from, (each) => {
        const event = toRecordedEvent(each, positions.shift);
        // A page begins with the event at its position, not after it.
        const last = events.at(-1)?.position ?? after;
        if (event === null || comparePositions(event.position, last) <= 0) return false;
        return events.push(event) >= limit;
      });
      // The next call skips the server's own events.
      if (events.length === 0 && scanned > PAGE) await this.head();
      return events;
    });
  }

  subscribe(after: string | null): Subscription {
    const subscription = new ResubscribingSubscription(this.connection, after, () => this.positions());
    this.open.add(subscription);
    return subscription;
  }

  async head(): Promise<string | null> {
    const { shift } = await this.positions();
    return this.retrying(async (attemptMs) => {
      let end: Position | null = null;
      let newest: string | null = null;
      await this.scan(attemptMs, BACKWARDS, END, (each) => {
        const position = readPosition(each);
        if (position === undefined) return false;
        end ??= position;
        if (this.tail.reaches(position)) newest = this.tail.position;
        else newest = toRecordedEvent(each, shift)?.position ?? null;
        return newest !== null || this.tail.reaches(position);
      });
      if (end !== null) this.tail.learn(newest, end);
      return newest;
    });
  }

  async identity(): Promise<string> {
    this.shift = (await this.positions()).shift;
    const known = await this.mark();
    if (known !== null) return known.logId;
    // Two may ask for the first time at once: the first mark counts.
    await this.identify(newId());
    const marked = await this.mark();
    if (marked === null) throw new Error(`${IDENTITY_STREAM} cannot be read`);
    return marked.logId;
  }

  /** Gives the log another identity. */
  async identify(logId: string): Promise<void> {
    const expected = (await this.mark())?.revision ?? 'no_stream';
    const mark = { id: newId(), type: IDENTITY_TYPE, data: { log_id: logId }, metadata: {} };
    await this.append({ stream: IDENTITY_STREAM, events: [mark], expected });
  }

  async ping(): Promise<void> {
    await this.retrying((attemptMs) => this.scan(attemptMs, BACKWARDS, END, () => true, 1));
  }

  async close(): Promise<void> {
    await Promise.all([...this.open].map((subscription) => subscription.close()));
    await inTime(this.connection.close(), CLOSE_TIMEOUT_MS).catch(() => undefined);
  }

  /** Everything in the log from a position on, the server's own events too, until `take` has enough. Gives their number. */
  private async scan(
    attemptMs: number,
    direction: Direction,
    from: ReadPosition,
    take: (each: AllStreamResolvedEvent) => boolean,
    maxCount = PAGE,
  ): Promise<number> {
    let total = 0;
    for (let fromPosition: ReadPosition | undefined = from; fromPosition !== undefined;) {
      let count = 0;
      let last: Position | undefined;
      let enough = false;
      const options = { fromPosition, direction, maxCount, requiresLeader: true };
      await readUntil(
        this.connection.client.readAll(options, BUFFERED),
        (each) => {
          count += 1;
          last = readPosition(each);
          enough = take(each);
          return enough;
        },
        attemptMs,
      );
      total += count;
      fromPosition = enough || count < maxCount ? undefined : last;
    }
    return total;
  }

  /** The server checks an append of no events, which costs less than a read of the newest event; no reader sees it. */
  private async check({ stream, expected }: StreamAppend): Promise<Done | Conflict> {
    if (expected === 'no_stream') {
      const actual = await this.readHead(stream);
      return actual === null ? { revision: -1, position: null } : { actual };
    }
    return this.retrying(async (attemptMs) => {
      try {
        await inTime(this.send({ stream, events: [], expected }, attemptMs), attemptMs);
        return { revision: expected, position: null };
      } catch (error) {
        if (!(error instanceof WrongExpectedVersionError)) throw error;
        const actual = await this.readHead(stream);
        // The server knows of an event that reads do not show yet: a caller that loads now would decide on it again.
        if (actual === expected) throw new NotReadableYet();
        return { actual };
      }
    });
  }

  private async append({ stream, events, expected }: StreamAppend): Promise<Done | Conflict> {
    const started = performance.now();
    let result: AppendResult;
    try {
      const sent = await this.retrying(async (attemptMs) => {
        // The server knows a repeat only where the expectation is the one of the first time, and forgets.
        const known = expected === 'no_stream' ? null : toResult(await this.latest(stream), events);
        if (known !== null) return known;
        setImmediate(() => failpoint('commit.sent'));
        return inTime(this.send({ stream, events, expected }, attemptMs), attemptMs);
      });
      if (!('success' in sent)) return sent;
      result = sent;
    } catch (error) {
      if (!(error instanceof WrongExpectedVersionError)) throw error;
      const stored = await this.readStream(stream);
      return toResult(stored, events) ?? { actual: stored.at(-1)?.revision ?? null };
    }
    appendDuration.observe((performance.now() - started) / 1000);
    appendUnits.inc();
    const revision = Number(result.nextExpectedRevision);
    const { position } = result;
    if (events.length === 1 && position !== undefined)
      return { revision, position: String(position.commit + this.shift) };
    // The server does not name the event of several to which its position belongs.
    const [last] = await this.readStream(stream, { fromRevision: revision });
    return { revision, position: last?.position ?? null };
  }

  private send({ stream, events, expected }: StreamAppend, attemptMs: number): Promise<AppendResult> {
    return this.connection.client.appendToStream(stream, events.map(toEventData), {
      expectedRevision: toExpectedRevision(expected),
      requiresLeader: true,
      deadline: attemptMs,
    });
  }

  /** The newest events of a stream, oldest first. */
  private async latest(stream: string): Promise<readonly RecordedEvent[]> {
    return (await this.readOne(stream, BACKWARDS, END, REPEATS_WITHIN)).toReversed();
  }

  private async readHead(stream: string): Promise<number | null> {
    return (await this.readOne(stream, BACKWARDS, END, 1)).at(-1)?.revision ?? null;
  }

  private async readOne(
    stream: string,
    direction: Direction,
    fromRevision: ReadRevision,
    maxCount?: number,
  ): Promise<readonly RecordedEvent[]> {
    const stored = await this.readRaw(stream, direction, fromRevision, maxCount);
    const { shift } = await this.positions();
    return stored.map((each) => toRecordedEvent(each, shift)).filter((event) => event !== null);
  }

  /** Returns the positions for a copy, which changes them. */
  refreshedPositions(): Promise<Positions> {
    this.known = null;
    return this.positions();
  }

  /** Read once: events are copied only to a log that no service follows. */
  private positions(): Promise<Positions> {
    this.known ??= this.readRaw(COPIED_STREAM, FORWARDS, START).then((marks) => new Positions(marks));
    this.known.catch(() => (this.known = null));
    return this.known;
  }

  private async mark(): Promise<{ readonly logId: string; readonly revision: number } | null> {
    // The newest counts: a copy makes another log of this one.
    const [mark] = await this.readRaw(IDENTITY_STREAM, BACKWARDS, END, 1);
    if (!mark?.event) return null;
    const { log_id: logId } = mark.event.data as unknown as { readonly log_id: string };
    return { logId, revision: Number(mark.event.revision) };
  }

  private async readRaw(
    stream: string,
    direction: Direction,
    fromRevision: ReadRevision,
    maxCount?: number,
  ): Promise<readonly ResolvedEvent[]> {
    return this.retrying(async (attemptMs) => {
      const events: ResolvedEvent[] = [];
      const options = { fromRevision, direction, requiresLeader: true, ...(maxCount && { maxCount }) };
      try {
        await readUntil(
          this.connection.client.readStream(stream, options, BUFFERED),
          (each) => {
            events.push(each);
            return false;
          },
          attemptMs,
        );
      } catch (error) {
        if (!isNoStream(error)) throw error;
      }
      return events;
    });
  }

  private retrying<T>(work: (attemptMs: number) => Promise<T>): Promise<T> {
    return retryWhileUnavailable(work, {
      timeoutMs: this.timeoutMs,
      onTimeout: (since) => {
        if (!this.connection.reconnect(since)) return;
        // Theirs belong to the former client.
        for (const subscription of this.open) subscription.restart();
      },
    });
  }
}

function readPosition(each: AllStreamResolvedEvent): Position | undefined {
  return (each.link ?? each.event)?.position;
}

/**
 * What became of an append whose events are in the stream already: done when all of them are, refused when only
 * some are. Null when none is.
 */
function toResult(stored: readonly RecordedEvent[], events: StreamAppend['events']): Done | Conflict | null {
  const known = stored.filter(({ id }) => events.some((each) => each.id === id));
  const last = known.at(-1);
  if (last === undefined) return null;
  if (known.length === events.length) return { revision: last.revision, position: last.position };
  return { actual: stored.at(-1)?.revision ?? null };
}

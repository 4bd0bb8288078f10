import {
  BACKWARDS,
  END,
  NO_STREAM,
  StreamNotFoundError,
  WrongExpectedVersionError,
  type AllStreamResolvedEvent,
  type AppendResult,
  type Position,
  type ReadAllOptions,
  type ReadPosition,
  type ReadStreamOptions,
  type ResolvedEvent,
} from '@eventstore/db-client';
import { newId } from '../../../kernel/ids.js';
import { QUERY_TIMEOUT_MS } from '../../postgres/session-settings.js';
import { failpoint } from '../../failpoints.js';
import { ChangeNotifier } from '../../jobs/group-call.js';
import { appendDuration, appendUnits } from '../../telemetry/metrics.js';
import {
  comparePositions,
  type Commit,
  type CommitResult,
  type EventStore,
  type ReadOptions,
  type RecordedEvent,
  type StreamAppend,
} from '../port.js';
import { Connection } from './connection.js';
import { inTime, NotReadableYet, retryWhileUnavailable } from './failures.js';
import { BUFFERED, readUntil, Tail } from './reading.js';
import { Positions } from './positions.js';
import { COPIED_STREAM, IDENTITY_STREAM, IDENTITY_TYPE, toEventData, toRecordedEvent } from './wire.js';

const PAGE = 1000;
/** The maximum of internal server events in an empty read. If a read scans more, later reads skip them. */
const MAX_RESCANNED = 100;
const NEWEST = { direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const;
/** The options for a read of the newest events, among which a repeated append searches its own events. */
const LATEST = { ...NEWEST, maxCount: 100 } as const;
const FROM_END = { direction: BACKWARDS, fromPosition: END } as const;
const CLOSE_TIMEOUT_MS = 1000;

/** The outcome of one append. `actual` is the revision after a conflict, or null for no stream. */
type Outcome =
  { readonly revision: number; readonly position: string | null } | { readonly actual: number | null };

export function openEventStoreDb(url: string, timeoutMs?: number): EventStoreDbEventStore {
  return new EventStoreDbEventStore(new Connection(url), timeoutMs);
}

/** The event store in EventStoreDB 24.6. It writes the appends of a commit one by one, in order. */
export class EventStoreDbEventStore implements EventStore {
  readonly atomic = false;
  readonly carriesResponses = false;
  readonly committed = new ChangeNotifier();
  private readonly tail = new Tail();
  private known: Promise<Positions> | null = null;
  /** The `shift` of Positions, which is read at boot, so that an append does not depend on another read. */
  private shift = 0n;

  constructor(
    private readonly connection: Connection,
    private readonly timeoutMs = QUERY_TIMEOUT_MS,
  ) {}

  async commit({ appends, response }: Commit): Promise<CommitResult> {
    if (response !== undefined) throw new Error('EventStoreDB cannot commit a response together with events');
    const checksFirst = appends.toSorted((a, b) => Math.sign(a.events.length) - Math.sign(b.events.length));
    const revisions = new Map<StreamAppend, number>();
    let position: string | null = null;
    for (const append of checksFirst) {
      const { stream, events } = append;
      const result = events.length === 0 ? await this.check(append) : await this.append(append);
      if ('actual' in result) return { outcome: 'conflict', stream, actual: result.actual };
      position = result.position ?? position;
      revisions.set(append, result.revision);
    }
    return { outcome: 'committed', position, revisions: appends.map((each) => revisions.get(each)!) };
  }

  async readStream(
    stream: string,
    { fromRevision = 0, lastOnly = false }: ReadOptions = {},
  ): Promise<readonly RecordedEvent[]> {
    if (!lastOnly) return this.readOne(stream, { fromRevision: BigInt(fromRevision) });
    return (await this.readOne(stream, NEWEST)).filter(({ revision }) => revision >= fromRevision);
  }

  async readAll(after: string | null, limit: number): Promise<readonly RecordedEvent[]> {
    const positions = await this.positions();
    return this.retrying(async (attemptMs) => {
      const events: RecordedEvent[] = [];
      const fromPosition = this.tail.startAfter(after, positions.shift) ?? positions.startAfter(after);
      const scanned = await this.scan(attemptMs, { fromPosition }, (each) => {
        const event = toRecordedEvent(each, positions.shift);
        // A page includes the event at its start position.
        const last = events.at(-1)?.position ?? after;
        if (event === null || comparePositions(event.position, last) <= 0) return false;
        return events.push(event) >= limit;
      });
      if (events.length === 0 && scanned > MAX_RESCANNED) await this.head();
      return events;
    });
  }

  async head(): Promise<string | null> {
    const { shift } = await this.positions();
    return this.retrying(async (attemptMs) => {
      let end: Position | null = null;
      let newest: string | null = null;
      await this.scan(attemptMs, FROM_END, (each) => {
        const position = readPosition(each);
        if (position === undefined) return false;
        end ??= position;
        if (this.tail.reaches(position)) newest = this.tail.position;
        else newest = toRecordedEvent(each, shift)?.position ?? null;
        return newest !== null || this.tail.reaches(position);
      });
      // A caller waits for a commit of another process, so followers are woken before their next poll.
      if (comparePositions(newest, this.tail.position) > 0) this.committed.notify();
      if (end !== null) this.tail.learn(newest, end);
      return newest;
    });
  }

  async identity(): Promise<string> {
    this.shift = (await this.positions()).shift;
    let mark = await this.mark();
    // The first mark of two concurrent calls counts.
    if (mark === null) await this.identify(newId());
    mark ??= await this.mark();
    if (mark === null) throw new Error(`the stream ${IDENTITY_STREAM} cannot be read`);
    return mark.logId;
  }

  async identify(logId: string): Promise<void> {
    const expected = (await this.mark())?.revision ?? 'no_stream';
    const mark = { id: newId(), type: IDENTITY_TYPE, data: { log_id: logId }, metadata: {} };
    await this.append({ stream: IDENTITY_STREAM, events: [mark], expected });
  }

  async ping(): Promise<void> {
    await this.retrying((attemptMs) => this.scan(attemptMs, { ...FROM_END, maxCount: 1 }, () => true));
  }

  async close(): Promise<void> {
    await inTime(this.connection.close(), CLOSE_TIMEOUT_MS).catch(() => undefined);
  }

  /** Reads all events, including the server's own, until `take` returns true. Returns the number read. */
  private async scan(
    attemptMs: number,
    { fromPosition, maxCount = PAGE, ...options }: ReadAllOptions,
    take: (each: AllStreamResolvedEvent) => boolean,
  ): Promise<number> {
    let total = 0;
    for (let from: ReadPosition | undefined = fromPosition; from !== undefined;) {
      const before = total;
      let last: Position | undefined;
      let isEnough = false;
      const page = { ...options, fromPosition: from, maxCount, requiresLeader: true };
      const handle = (each: AllStreamResolvedEvent): boolean => {
        total += 1;
        last = readPosition(each);
        return (isEnough = take(each));
      };
      await readUntil(this.connection.client.readAll(page, BUFFERED), handle, attemptMs);
      from = isEnough || total - before < maxCount ? undefined : last;
    }
    return total;
  }

  /** Checks the revision of a stream by an append without events, which costs less than a read. */
  private async check({ stream, expected }: StreamAppend): Promise<Outcome> {
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
        // The server has an event that cannot be read yet. A caller that loads now would decide without it.
        if (actual === expected) throw new NotReadableYet();
        return { actual };
      }
    });
  }

  private async append({ stream, events, expected }: StreamAppend): Promise<Outcome> {
    const started = performance.now();
    let sent: AppendResult | Outcome;
    try {
      sent = await this.retrying(async (attemptMs) => {
        // The server detects repeats only with the expectation of the first attempt, and only for some time.
        const known = expected === 'no_stream' ? [] : await this.readOne(stream, LATEST);
        const repeated = toOutcome(known.toReversed(), events);
        if (repeated !== null) return repeated;
        setImmediate(() => failpoint('commit.sent'));
        return inTime(this.send({ stream, events, expected }, attemptMs), attemptMs);
      });
    } catch (error) {
      if (!(error instanceof WrongExpectedVersionError)) throw error;
      const stored = await this.readStream(stream);
      return toOutcome(stored, events) ?? { actual: stored.at(-1)?.revision ?? null };
    }
    if (!('success' in sent)) return sent;
    appendDuration.observe((performance.now() - started) / 1000);
    appendUnits.inc();
    this.committed.notify();
    const revision = Number(sent.nextExpectedRevision);
    if (events.length === 1 && sent.position !== undefined)
      return { revision, position: String(sent.position.commit + this.shift) };
    // The server does not report to which of several events its position belongs.
    const [last] = await this.readStream(stream, { fromRevision: revision });
    return { revision, position: last?.position ?? null };
  }

  private send({ stream, events, expected }: StreamAppend, attemptMs: number): Promise<AppendResult> {
    return this.connection.client.appendToStream(stream, events.map(toEventData), {
      expectedRevision: expected === 'no_stream' ? NO_STREAM : BigInt(expected),
      requiresLeader: true,
      deadline: attemptMs,
    });
  }

  private async readHead(stream: string): Promise<number | null> {
    return (await this.readOne(stream, NEWEST)).at(-1)?.revision ?? null;
  }

  private async readOne(stream: string, options: ReadStreamOptions): Promise<readonly RecordedEvent[]> {
    const stored = await this.readRaw(stream, options);
    const { shift } = await this.positions();
    return stored.map((each) => toRecordedEvent(each, shift)).filter((event) => event !== null);
  }

  refreshedPositions(): Promise<Positions> {
    this.known = null;
    return this.positions();
  }

  /** Returns the positions, read only once, because events are copied only to a log that no service uses. */
  private positions(): Promise<Positions> {
    this.known ??= this.readRaw(COPIED_STREAM, {}).then((marks) => new Positions(marks));
    this.known.catch(() => (this.known = null));
    return this.known;
  }

  private async mark(): Promise<{ readonly logId: string; readonly revision: number } | null> {
    // The newest mark counts, because a copy changes the identity of the log.
    const [mark] = await this.readRaw(IDENTITY_STREAM, NEWEST);
    if (!mark?.event) return null;
    const { log_id: logId } = mark.event.data as unknown as { readonly log_id: string };
    return { logId, revision: Number(mark.event.revision) };
  }

  private readRaw(stream: string, options: ReadStreamOptions): Promise<readonly ResolvedEvent[]> {
    return this.retrying(async (attemptMs) => {
      const events: ResolvedEvent[] = [];
      const read = this.connection.client.readStream(stream, { ...options, requiresLeader: true }, BUFFERED);
      try {
        await readUntil(read, (each) => events.push(each) < 0, attemptMs);
      } catch (error) {
        if (!(error instanceof StreamNotFoundError)) throw error;
      }
      return events;
    });
  }

  private retrying<T>(work: (attemptMs: number) => Promise<T>): Promise<T> {
    return retryWhileUnavailable(work, {
      timeoutMs: this.timeoutMs,
      onTimeout: (since) => this.connection.reconnect(since),
    });
  }
}

function readPosition(each: AllStreamResolvedEvent): Position | undefined {
  return (each.link ?? each.event)?.position;
}

/** The outcome of a repeated append: done if all its events are stored, a conflict if some, null if none. */
function toOutcome(stored: readonly RecordedEvent[], events: StreamAppend['events']): Outcome | null {
  const known = stored.filter(({ id }) => events.some((each) => each.id === id));
  const last = known.at(-1);
  if (last === undefined) return null;
  if (known.length === events.length) return { revision: last.revision, position: last.position };
  return { actual: stored.at(-1)?.revision ?? null };
}

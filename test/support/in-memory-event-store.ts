import { newId } from '../../src/kernel/ids.js';
import type {
  Commit,
  CommitResult,
  EventStore,
  ReadOptions,
  RecordedEvent,
  StoredResponse,
  StreamAppend,
} from '../../src/platform/event-store/port.js';
import { ChangeNotifier } from '../../src/platform/jobs/group-call.js';
import { LazyEvent } from '../../src/platform/event-store/postgres/postgres-event-store.js';

/** The durable part. A second store with it simulates a restart. */
export interface Memory {
  readonly events: RecordedEvent[];
  readonly responses: Map<string, StoredResponse>;
  identity?: string;
}

/**
 * The event store of unit specs, and the model that PostgreSQL is compared with. With `atomic: false` it
 * behaves like EventStoreDB, and appends one by one, in order, without responses.
 */
export class InMemoryEventStore implements EventStore {
  readonly carriesResponses: boolean;
  readonly committed = new ChangeNotifier();

  constructor(
    readonly atomic: boolean = true,
    private readonly memory: Memory = { events: [], responses: new Map() },
    private readonly now: () => Date = () => new Date(),
  ) {
    this.carriesResponses = atomic;
  }

  async commit(commit: Commit): Promise<CommitResult> {
    if (new Set(commit.appends.map(({ stream }) => stream)).size < commit.appends.length) {
      throw new Error('a commit cannot append to a stream twice');
    }
    if (commit.response !== undefined && !this.carriesResponses)
      throw new Error('this store carries no responses');
    const result = this.apply(commit);
    this.committed.notify();
    return result;
  }

  async readStream(
    stream: string,
    { fromRevision = 0, lastOnly = false }: ReadOptions = {},
  ): Promise<readonly RecordedEvent[]> {
    const events = this.eventsOf(stream).slice(fromRevision);
    return lastOnly ? events.slice(-1) : events;
  }

  async readAll(after: string | null, limit: number): Promise<readonly RecordedEvent[]> {
    const start = after === null ? 0 : Number(after);
    return this.memory.events.slice(start, start + limit);
  }

  async head(): Promise<string | null> {
    return this.memory.events.at(-1)?.position ?? null;
  }

  async identity(): Promise<string> {
    this.memory.identity ??= newId();
    return this.memory.identity;
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {}

  private apply({ appends, response }: Commit): CommitResult {
    const repeats = appends.map((append) => this.repeatOf(append));
    const writing = appends.filter(({ events }) => events.length > 0);
    const isRepeat =
      writing.length > 0 && appends.every(({ events }, n) => events.length === 0 || repeats[n]);
    const key = response && `${response.scope} ${response.key}`;
    const stored = key === undefined ? undefined : this.memory.responses.get(key);
    if (response && stored && !(isRepeat && sameResponse(response, stored)))
      return { outcome: 'responded', response: stored };
    for (const [n, append] of appends.entries()) {
      const isDue = this.atomic ? !isRepeat && !repeats[n] : append.events.length === 0;
      if (isDue && !this.holds(append)) return this.conflict(append.stream);
    }
    const last: (RecordedEvent | null)[] = [];
    for (const [n, append] of appends.entries()) {
      // Earlier appends remain if the store is not atomic.
      if (!repeats[n] && !(this.atomic && isRepeat) && !this.holds(append))
        return this.conflict(append.stream);
      last.push(repeats[n] ?? this.write(append));
    }
    if (response && key !== undefined) this.memory.responses.set(key, response);
    return committed(
      last,
      appends.map(({ stream }, n) => last[n]?.revision ?? this.headOf(stream)),
    );
  }

  /** Returns the last event of an append whose events all exist, or null. */
  private repeatOf({ stream, events }: StreamAppend): RecordedEvent | null {
    const ids = new Set(events.map(({ id }) => id));
    const known = this.eventsOf(stream).filter(({ id }) => ids.has(id));
    return ids.size > 0 && known.length === ids.size ? known.at(-1)! : null;
  }

  private holds({ stream, expected, events }: StreamAppend): boolean {
    const known = this.eventsOf(stream);
    const ids = new Set(events.map(({ id }) => id));
    return isAt(expected, known.length - 1) && !known.some(({ id }) => ids.has(id));
  }

  private write({ stream, events }: StreamAppend): RecordedEvent | null {
    let last: RecordedEvent | null = null;
    for (const { id, type, data, metadata } of events) {
      const position = String(this.memory.events.length + 1);
      const revision = this.headOf(stream) + 1;
      const [dataText, metadataText] = [JSON.stringify(data), JSON.stringify(metadata)];
      last = new LazyEvent(
        position,
        stream,
        revision,
        id,
        type,
        dataText,
        metadataText,
        this.now().getTime(),
      );
      this.memory.events.push(last);
    }
    return last;
  }

  private eventsOf(stream: string): RecordedEvent[] {
    return this.memory.events.filter((event) => event.stream === stream);
  }

  private headOf(stream: string): number {
    return this.eventsOf(stream).length - 1;
  }

  private conflict(stream: string): CommitResult {
    const head = this.headOf(stream);
    return { outcome: 'conflict', stream, actual: head < 0 ? null : head };
  }
}

const isAt = (expected: StreamAppend['expected'], head: number): boolean =>
  head === (expected === 'no_stream' ? -1 : expected);

const sameResponse = (a: StoredResponse, b: StoredResponse): boolean =>
  a.fingerprint === b.fingerprint && a.status === b.status && a.body === b.body;

/** Returns the latest position. Repeated events lie before new ones. */
function committed(last: readonly (RecordedEvent | null)[], revisions: readonly number[]): CommitResult {
  const positions = last.flatMap((event) => (event ? [Number(event.position)] : []));
  const position = positions.length === 0 ? null : String(Math.max(...positions));
  return { outcome: 'committed', position, revisions };
}

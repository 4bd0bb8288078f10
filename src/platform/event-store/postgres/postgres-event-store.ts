import type { Pool, QueryArrayConfig } from 'pg';
import { bounded, QUERY_TIMEOUT_MS } from '../../postgres/session-settings.js';
import { failpoint } from '../../failpoints.js';
import { waitForRetry } from '../../jobs/backoff.js';
import { ChangeNotifier, GroupCall } from '../../jobs/group-call.js';
import { appendDuration, appendUnits } from '../../telemetry/metrics.js';
import {
  comparePositions,
  EventStoreUnavailable,
  type Commit,
  type CommitResult,
  type EventStore,
  type ReadOptions,
  type RecordedEvent,
  type EventMetadata,
  type JsonObject,
} from '../port.js';
import {
  COMMIT_STATEMENT,
  decodeRow,
  encodeCall,
  encodeUnit,
  groupOfUnits,
  separatorFor,
  type CommitRow,
  type EncodedUnit,
} from './commit-call.js';
import { isDatabaseUnavailable } from '../../postgres/unavailable.js';

const GROUP = { max: 256, gatherMs: 1, group: () => groupOfUnits() };
const PAGE_BYTES = 16 * 1024 * 1024;
const RETRY = { firstMs: 25, maxMs: 800 };
const ATTEMPTS = 6;

const COLUMNS = `position, stream, revision, id, type, data, metadata, date_part('epoch', recorded_at) * 1000`;

function toPage(condition: string, limit: string): string {
  return `select ${COLUMNS} from (
     select e.*, sum(octet_length(data)) over (order by position rows unbounded preceding) as upto
     from (select * from event_store.events where ${condition} order by position limit ${limit}) e
   ) p where upto - octet_length(data) < ${PAGE_BYTES} order by position`;
}

type EventRow = [string, string, number, string, string, string, string, number];

/** The event store in PostgreSQL, which commits concurrent appends in groups. */
export class PostgresEventStore implements EventStore {
  readonly atomic = true;
  readonly carriesResponses = true;

  readonly committed = new ChangeNotifier();
  private newest: string | null = null;
  private readonly group = new GroupCall((units: readonly EncodedUnit[]) => this.call(units), GROUP);

  constructor(
    readonly pool: Pool,
    private readonly timeoutMs = QUERY_TIMEOUT_MS,
  ) {}

  async commit(commit: Commit): Promise<CommitResult> {
    const result = await this.group.call(encodeUnit(commit));
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  }

  async readStream(
    stream: string,
    { fromRevision = 0, lastOnly = false }: ReadOptions = {},
  ): Promise<readonly RecordedEvent[]> {
    const events = `select ${COLUMNS} from event_store.events where stream = $1 and revision >= $2 order by revision`;
    return lastOnly
      ? this.read('event_store.read_last', `${events} desc limit 1`, [stream, fromRevision])
      : this.read('event_store.read_stream', events, [stream, fromRevision]);
  }

  async readAll(after: string | null, limit: number): Promise<readonly RecordedEvent[]> {
    // A read from the start has no lower bound, so that it includes rows inserted below the first position.
    return after === null
      ? this.read('event_store.read_first', toPage('true', '$1'), [limit])
      : this.read('event_store.read_all', toPage('position > $1', '$2'), [after, limit]);
  }

  async head(): Promise<string | null> {
    const sql = 'select max(position) from event_store.events';
    const position = (await this.query<[string | null]>(undefined, sql, []))[0]![0];
    // A caller waits for a commit of another process, so followers are woken before their next poll.
    if (comparePositions(position, this.newest) > 0) this.committed.notify();
    this.newest = position;
    return position;
  }

  async identity(): Promise<string> {
    const rows = await this.query<[string]>(undefined, 'select log_id from event_store.log_identity', []);
    return rows[0]![0];
  }

  async ping(): Promise<void> {
    try {
      await this.pool.query(bounded({ text: 'select from event_store.events limit 1' }, this.timeoutMs));
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** Waits for pending commits. The caller closes the pool. */
  close(): Promise<void> {
    return this.group.settled();
  }

  private async read(
    name: string,
    sql: string,
    params: readonly unknown[],
  ): Promise<readonly RecordedEvent[]> {
    const rows = await this.query<EventRow>(name, sql, params);
    return rows.map((row) => new LazyEvent(...row));
  }

  private async query<Row extends unknown[]>(
    name: string | undefined,
    text: string,
    values: readonly unknown[],
  ): Promise<Row[]> {
    return this.withRetries(async (remainingMs) => {
      const statement: QueryArrayConfig = { name, text, values: [...values], rowMode: 'array' };
      const result = await this.pool.query<Row>(bounded(statement, remainingMs));
      return result.rows;
    });
  }

  /** Sends a group of units. If a unit is invalid, sends each alone, so that only the invalid one fails. */
  private async call(units: readonly EncodedUnit[]): Promise<readonly PromiseSettledResult<CommitResult>[]> {
    const started = performance.now();
    try {
      const row = await this.withRetries((remainingMs) => this.send(units, remainingMs));
      appendDuration.observe((performance.now() - started) / 1000);
      appendUnits.inc(units.length);
      this.committed.notify();
      return decodeRow(units, row).map((value) => ({ status: 'fulfilled', value }));
    } catch (reason) {
      if (units.length === 1 || reason instanceof EventStoreUnavailable) {
        return units.map(() => ({ status: 'rejected', reason }));
      }
      const alone: PromiseSettledResult<CommitResult>[] = [];
      for (const unit of units) alone.push(...(await this.call([unit])));
      return alone;
    }
  }

  private async send(units: readonly EncodedUnit[], remainingMs: number): Promise<CommitRow> {
    const values = encodeCall(units, separatorFor(units));
    const statement = { name: 'event_store.commit_units', text: COMMIT_STATEMENT, values };
    const client = await this.pool.connect();
    let isInDoubt = true;
    try {
      const sent = client.query<CommitRow>(bounded(statement, remainingMs));
      // The socket has the statement now. A setImmediate could run after the response.
      failpoint('commit.sent');
      const { rows } = await sent;
      isInDoubt = false;
      return rows[0]!;
    } finally {
      client.release(isInDoubt);
    }
  }

  /** Retries while the database is unavailable. Event ids and response keys make repeats harmless. */
  private async withRetries<T>(work: (remainingMs: number) => Promise<T>): Promise<T> {
    const until = performance.now() + this.timeoutMs;
    for (let attempt = 0; ; attempt += 1) {
      try {
        // All attempts share one time limit, because later commits wait for this one.
        return await work(Math.max(1, until - performance.now()));
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error;
        if (attempt + 1 >= ATTEMPTS || performance.now() >= until) throw unavailable(error);
        await waitForRetry(RETRY, attempt);
      }
    }
  }
}

function unavailable(error: unknown): EventStoreUnavailable {
  return new EventStoreUnavailable('the event store is unavailable', { cause: error });
}

/** An event that parses its JSON on access, because subscriptions skip most events. */
export class LazyEvent implements RecordedEvent {
  private parsedData: JsonObject | undefined;
  private parsedMetadata: EventMetadata | undefined;

  constructor(
    readonly position: string,
    readonly stream: string,
    readonly revision: number,
    readonly id: string,
    readonly type: string,
    readonly dataText: string,
    readonly metadataText: string,
    private readonly recordedMs: number,
  ) {}

  get data(): JsonObject {
    return (this.parsedData ??= JSON.parse(this.dataText) as JsonObject);
  }

  get metadata(): EventMetadata {
    return (this.parsedMetadata ??= JSON.parse(this.metadataText) as EventMetadata);
  }

  get recordedAt(): Date {
    return new Date(this.recordedMs);
  }
}

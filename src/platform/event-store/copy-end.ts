import { ConfigError } from '../config/settings.js';
import type { Database } from '../postgres/database.js';
import type { CopyEnd, RecordedEvent } from './port.js';
import { PostgresEventStore } from './postgres/postgres-event-store.js';

/** The pattern for the source or target of a log copy: `postgres` (DATABASE_URL) or an EventStoreDB URL. */
export const COPY_END = /^(postgres$|esdb(\+discover)?:\/\/.)/;

export async function openCopyEnd(name: string, database: Database): Promise<CopyEnd> {
  if (name === 'postgres') return new PostgresCopyEnd(database);
  const { EventStoreDbCopyEnd } = await import('./eventstoredb/eventstoredb-copy-end.js');
  try {
    return new EventStoreDbCopyEnd(name);
  } catch (error) {
    // The message omits the address, which may contain a password.
    throw new ConfigError(
      `The address is not a valid EventStoreDB connection string: ${(error as Error).name}`,
      { cause: error },
    );
  }
}

export class PostgresCopyEnd implements CopyEnd {
  readonly store: PostgresEventStore;

  constructor(private readonly database: Database) {
    this.store = new PostgresEventStore(database.pool);
  }

  async add(_after: string | null, events: readonly RecordedEvent[]): Promise<void> {
    if (events.length === 0) return;
    await this.database.query(
      `with copied as (
         insert into event_store.events (position, stream, revision, id, type, data, metadata, recorded_at)
         select * from unnest($1::bigint[], $2::text[], $3::int[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
       ) select setval('event_store.position', $9)`,
      [
        events.map(({ position }) => position),
        events.map(({ stream }) => stream),
        events.map(({ revision }) => revision),
        events.map(({ id }) => id),
        events.map(({ type }) => type),
        events.map(({ data, dataText }) => dataText ?? JSON.stringify(data)),
        events.map(({ metadata, metadataText }) => metadataText ?? JSON.stringify(metadata)),
        events.map(({ recordedAt }) => recordedAt.toISOString()),
        events.at(-1)!.position,
      ],
    );
  }

  async identify(logId: string): Promise<void> {
    await this.database.query('update event_store.log_identity set log_id = $1', [logId]);
  }
}

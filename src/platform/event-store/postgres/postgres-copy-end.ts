import { ConfigError } from '../../config/settings.js';
import type { Database } from '../../postgres/database.js';
import type { CopyEnd } from '../copy-end.js';
import type { RecordedEvent } from '../port.js';
import { APPEND_LOCK } from './schema.js';
import { MOVED, PostgresEventStore } from './postgres-event-store.js';

/**
 * Refuses the appends of every process that is still connected, after those that have begun. Responses, which stay in this
 * database, are still stored. A constraint, not a trigger, which an audit would take for a forger's.
 */
const FENCE = `
  alter table event_store.events drop constraint if exists ${MOVED};
  alter table event_store.events add constraint ${MOVED}
    check (coalesce(current_setting('event_store.copying', true), '') = 'on') not valid;
`;

const LOCK_TIMEOUT = '55P03';

/** The log in DATABASE_URL as one end of a copy. */
export class PostgresCopyEnd implements CopyEnd {
  readonly store: PostgresEventStore;

  constructor(private readonly database: Database) {
    this.store = new PostgresEventStore(database.pool);
  }

  async fence(): Promise<void> {
    try {
      await this.database.transaction((tx) => tx.query(`set local lock_timeout = '2s'; ${FENCE}`));
    } catch (error) {
      // While it waits for the lock, every append and every read would wait behind it.
      if ((error as { readonly code?: unknown }).code !== LOCK_TIMEOUT) throw error;
      throw new ConfigError(
        'Another session reads the table of events for long, as a backup does. Repeat the command when it has ended.',
        { cause: error },
      );
    }
  }

  async add(after: string | null, events: readonly RecordedEvent[]): Promise<void> {
    if (events.length === 0) return;
    await this.database.transaction(async (tx) => {
      // The lock of all appends, and the setting that the fence lets pass.
      await tx.query(
        `select pg_advisory_xact_lock(${APPEND_LOCK}), set_config('event_store.copying', 'on', true)`,
      );
      const { rows } = await tx.query<{ head: string | null }>(
        'select max(position) as head from event_store.events',
      );
      if (rows[0]!.head !== after)
        throw new ConfigError('Another process writes to the event store that is copied to.');
      await tx.query(
        `insert into event_store.events (position, stream, revision, id, type, data, metadata, recorded_at)
         select * from unnest($1::bigint[], $2::text[], $3::int[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
           as copied(position, stream, revision, id, type, data, metadata, recorded_at)`,
        [
          events.map(({ position }) => position),
          events.map(({ stream }) => stream),
          events.map(({ revision }) => revision),
          events.map(({ id }) => id),
          events.map(({ type }) => type),
          events.map(({ data, dataText }) => dataText ?? JSON.stringify(data)),
          events.map(({ metadata, metadataText }) => metadataText ?? JSON.stringify(metadata)),
          events.map(({ recordedAt }) => recordedAt.toISOString()),
        ],
      );
      await tx.query(`select setval('event_store.position', $1)`, [events.at(-1)!.position]);
    });
  }

  async open(logId: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx.query(`alter table event_store.events drop constraint if exists ${MOVED}`);
      await tx.query('update event_store.log_identity set log_id = $1', [logId]);
    });
  }

  async retire(): Promise<void> {
    await this.database.query('update event_store.log_identity set log_id = gen_random_uuid()');
  }

  async close(): Promise<void> {
    await this.store.close();
  }
}

import type { Pool } from 'pg';
import type { StoreConfig } from '../config/config.js';
import { reaching } from '../postgres/unavailable.js';
import { LIMITS, openPool, RESPONSE_TIMEOUT_MS } from '../postgres/session-settings.js';
import type { EventStore } from './port.js';
import { PostgresEventStore } from './postgres/postgres-event-store.js';
import { LOG_SCHEMA } from './postgres/schema.js';

/** Nest injection token of the {@link OpenEventStore}. */
export const OPEN_EVENT_STORE = Symbol('OPEN_EVENT_STORE');

export interface OpenEventStore {
  readonly store: EventStore;
  /** The store of keyed responses: with the events when these are in PostgreSQL, else in DATABASE_URL. */
  readonly responses: { readonly pool: Pool; readonly writer: PostgresEventStore };
  close(): Promise<void>;
}

/** The event store of EVENT_STORE_URL; without one, of the database that `pool` is connected to. */
export async function openEventStore(config: StoreConfig, pool: Pool): Promise<OpenEventStore> {
  const { eventStoreUrl: url } = config;
  if (url?.startsWith('esdb')) {
    // The client is large, so only processes that need it load it.
    const { openEventStoreDb } = await import('./eventstoredb/eventstoredb-event-store.js');
    const store = openEventStoreDb(url);
    const writer = new PostgresEventStore(pool);
    const close = async (): Promise<void> => {
      await Promise.all([store.close(), writer.close()]);
    };
    return { store, responses: { pool, writer }, close };
  }
  if (url === null || url === config.databaseUrl) {
    const store = new PostgresEventStore(pool);
    return { store, responses: { pool, writer: store }, close: () => store.close() };
  }
  const own = await reaching('event store', 'EVENT_STORE_URL', () =>
    preparedPool(url, config.databasePoolSize),
  );
  const store = new PostgresEventStore(own);
  const close = async (): Promise<void> => {
    await store.close();
    await own.end();
  };
  return { store, responses: { pool: own, writer: store }, close };
}

/** A database for events alone has no migrations: its schema is created when it is missing. */
async function preparedPool(connectionString: string, max: number): Promise<Pool> {
  const options = { connectionString, max, query_timeout: RESPONSE_TIMEOUT_MS };
  const pool = openPool(options, { plan_cache_mode: 'force_custom_plan' }, LIMITS);
  await pool.query(LOG_SCHEMA);
  return pool;
}

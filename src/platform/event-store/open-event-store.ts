import type { Pool } from 'pg';
import type { StoreConfig } from '../config/config.js';
import { reaching } from '../postgres/unavailable.js';
import { LIMITS, openPool, RESPONSE_TIMEOUT_MS } from '../postgres/session-settings.js';
import type { EventStore } from './port.js';
import { PostgresEventStore } from './postgres/postgres-event-store.js';
import { LOG_SCHEMA } from './postgres/schema.js';

export const OPEN_EVENT_STORE = Symbol('OPEN_EVENT_STORE');

export interface OpenEventStore {
  readonly store: EventStore;
  /** The store of idempotent responses: the event store if it is PostgreSQL, otherwise DATABASE_URL. */
  readonly responses: PostgresEventStore;
  close(): Promise<unknown>;
}

/** Opens the event store of EVENT_STORE_URL or, if that is not set, the one in `pool`. */
export async function openEventStore(config: StoreConfig, pool: Pool): Promise<OpenEventStore> {
  const { eventStoreUrl: url } = config;
  if (url?.startsWith('esdb')) {
    // Only processes that need the large client load it.
    const { openEventStoreDb } = await import('./eventstoredb/eventstoredb-event-store.js');
    const [store, responses] = [openEventStoreDb(url), new PostgresEventStore(pool)];
    return { store, responses, close: () => Promise.all([store.close(), responses.close()]) };
  }
  if (url === null || url === config.databaseUrl) {
    const store = new PostgresEventStore(pool);
    return { store, responses: store, close: () => store.close() };
  }
  const prepare = () => preparedPool(url, config.databasePoolSize);
  const own = await reaching('event store', 'EVENT_STORE_URL', prepare);
  const store = new PostgresEventStore(own);
  return { store, responses: store, close: () => store.close().then(() => own.end()) };
}

/** Opens a database for events alone and creates its schema, because migrations do not run there. */
async function preparedPool(connectionString: string, max: number): Promise<Pool> {
  const options = { connectionString, max, query_timeout: RESPONSE_TIMEOUT_MS };
  const pool = openPool(options, { plan_cache_mode: 'force_custom_plan' }, LIMITS);
  await pool.query(LOG_SCHEMA);
  return pool;
}

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { dropTestDatabase, testDatabaseUrl } from '../../../test/support/postgres.js';
import { isDatabaseUnavailable } from './unavailable.js';
import { openEventStore } from '../event-store/open-event-store.js';
import { QueueBackend } from '../jobs/queue-backend.js';
import { databaseFromConfig, type Database } from './database.js';
import { LIMITS } from './session-settings.js';
import { storeConfig } from '../config/config.js';

const SETTINGS = [
  ...Object.keys(LIMITS),
  'tcp_user_timeout',
  'tcp_keepalives_idle',
  'client_connection_check_interval',
];

describe('a process that stalls', () => {
  let url: string;
  let database: Database;

  beforeAll(async () => {
    url = await testDatabaseUrl();
    database = await databaseFromConfig(
      storeConfig({ DATABASE_URL: url, DATABASE_POOL_SIZE: '4', ROLES: 'worker' }),
    );
    await database.query('create table lanes (id int primary key, n int not null)');
    await database.query('insert into lanes values (1, 0)');
  });
  afterAll(async () => {
    await database.close();
    await dropTestDatabase(url);
  });

  it('gets an error for its open transaction, loses its locks, and can write again afterwards', async () => {
    let held = (): void => undefined;
    const holds = new Promise<void>((resolve) => {
      held = resolve;
    });
    let woken = (): void => undefined;
    const wakes = new Promise<void>((resolve) => {
      woken = resolve;
    });
    const sleeper = database.transaction(async (tx) => {
      // The limit of the service is 10 s.
      await tx.query('set local idle_in_transaction_session_timeout = 1000');
      await tx.query('select pg_advisory_xact_lock(7331002)');
      await tx.query('update lanes set n = n + 100 where id = 1');
      held();
      await wakes;
      await tx.query('update lanes set n = n + 1000 where id = 1');
    });
    const lost = sleeper.then(() => 'committed', isDatabaseUnavailable);
    await holds;
    // The service retries a lock timeout in the same way.
    const other = async (): Promise<void> => {
      for (;;) {
        try {
          return await database.transaction(async (tx) => {
            await tx.query('select pg_advisory_xact_lock(7331002)');
            await tx.query('update lanes set n = n + 1 where id = 1');
          });
        } catch (error) {
          if (!isDatabaseUnavailable(error)) throw error;
        }
      }
    };
    await other();
    woken();
    expect(await lost).toBe(true);
    expect(await database.query('select n from lanes')).toEqual([{ n: 1 }]);
    await other();
    expect(await database.query('select n from lanes')).toEqual([{ n: 2 }]);
  });

  it('is limited by timeouts of the server in the sessions of every pool', async () => {
    const queue = await QueueBackend.connect(url);
    const config = storeConfig({
      EVENT_STORE_URL: `${url}?own`,
      DATABASE_URL: url,
      DATABASE_POOL_SIZE: '4',
    });
    const events = await openEventStore(config, database.pool);
    const pools = [database.pool, queue.connection as unknown as pg.Pool, events.responses.pool];
    for (const pool of pools) {
      const { rows } = await pool.query<{ name: string; setting: string }>(
        'select name, setting from pg_settings where name = any($1)',
        [SETTINGS],
      );
      expect(rows).toHaveLength(SETTINGS.length);
      for (const { name, setting } of rows) expect([name, Number(setting)]).not.toEqual([name, 0]);
    }
    expect(events.responses.pool).not.toBe(database.pool);
    await queue.close();
    await events.close();
  });
});

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import pg from 'pg';
import { MIGRATIONS } from '../../src/composition.js';
import type { OpenEventStore } from '../../src/platform/event-store/open-event-store.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { Database } from '../../src/platform/postgres/database.js';
import { postgresHome } from '../../sandbox/binaries.js';
import { ensureDatabase, startPostgres } from '../../sandbox/postgres.js';
import { serverUser } from '../../sandbox/server-user.js';
import { WAIT_MS } from './eventually.js';
import { oncePerRun, runFolder } from './run-folder.js';

const TEMPLATE = 'disburse_template';

export interface TestDatabase {
  readonly url: string;
  readonly database: Database;
  readonly pool: pg.Pool;
  /** Closes the connections and deletes the database. */
  drop(): Promise<void>;
}

/** Creates a database for one spec file, as a copy of a template that is migrated once per run. */
export async function testDatabase({ poolSize = 8 } = {}): Promise<TestDatabase> {
  const url = await testDatabaseUrl();
  const database = await Database.connect({ url, poolSize });
  // The service gives up after 5 s, which a busy machine may need.
  database.pool.options.connectionTimeoutMillis = WAIT_MS;
  return {
    url,
    database,
    pool: database.pool,
    drop: async () => {
      await database.close();
      await dropTestDatabase(url);
    },
  };
}

/** A `testDatabase` for all tests of a suite, dropped after them. */
export function onTestDatabase(options: { poolSize?: number } = {}): TestDatabase {
  const db = {} as TestDatabase;
  beforeAll(async () => void Object.assign(db, await testDatabase(options)));
  afterAll(() => db.drop?.());
  return db;
}

export function responsesIn(pool: pg.Pool): Pick<OpenEventStore, 'responses'> {
  return { responses: new PostgresEventStore(pool) };
}

/** Creates a database for services with their own connections, until `dropTestDatabase` or the run ends. */
export async function testDatabaseUrl(): Promise<string> {
  const server = await oncePerRun('postgres', startTemplate);
  const name = `test_${randomBytes(6).toString('hex')}`;
  await maintain(server.url, `create database ${name} template ${TEMPLATE}`);
  return databaseUrl(server.url, name);
}

export async function dropTestDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await maintain(databaseUrl(url, 'postgres'), `drop database if exists "${name}" with (force)`);
}

async function startTemplate(): Promise<{ url: string }> {
  const server = await startPostgres({
    dir: join(runFolder(), 'postgres'),
    home: postgresHome(),
    password: randomBytes(16).toString('hex'),
    durable: false,
    user: serverUser(),
  });
  await ensureDatabase(server, TEMPLATE);
  const template = await Database.connect({ url: server.url(TEMPLATE), poolSize: 4, migrations: MIGRATIONS });
  await template.close();
  return { url: server.url('postgres') };
}

async function maintain(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

const databaseUrl = (url: string, name: string): string =>
  Object.assign(new URL(url), { pathname: `/${name}` }).toString();

import { Logger } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type MigrationInterface } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { ConfigError } from '../config/settings.js';
import { CONNECTING, LIMITS, sessionOptions } from './session-settings.js';
import { outliveConnections } from './lost-connections.js';
import { reaching } from './unreachable.js';

/** Key of the advisory lock under which migrations run, so that two processes may boot at once. */
const MIGRATION_LOCK = 7_331_002;
/** That of versions which wait for it in a statement, and hold up `create index concurrently` for as long as they wait. */
const FORMER_LOCK = 7_331_001;
/** How long a migration waits for a lock, and everybody who comes after it with it. */
const LOCK_TIMEOUT_MS = 1000;
/** Between tries, so that those who had to wait get their turn. */
const PAUSE_MS = 2000;
const POLL_MS = 100;
/** How long a boot tries before it fails. */
const PATIENCE_MS = 600_000;

/** A class of TypeORM's. One that takes the place of several keeps the name of the last of them. */
export interface Migration {
  new (): MigrationInterface & { readonly name?: string };
  /** The others it took the place of: a database that has them, and not the last, is refused. */
  readonly replaces?: readonly string[];
}

/**
 * Brings the schema up to date: each migration in a transaction of its own, one process at a time. One that finds a
 * table in use gives way and tries again (ADR 100).
 */
export async function migrate(url: string, migrations: readonly Migration[]): Promise<void> {
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    applicationName: 'disburse migrations',
    poolSize: 2,
    migrations: [...migrations],
    migrationsTableName: 'disburse_migrations',
    migrationsTransactionMode: 'each',
    extra: {
      ...CONNECTING,
      options: sessionOptions({
        lock_timeout: LOCK_TIMEOUT_MS,
        idle_in_transaction_session_timeout: LIMITS.idle_in_transaction_session_timeout,
      }),
    },
    // In place of TypeORM's own, which write to the console.
    logger: 'debug',
    poolErrorHandler: () => undefined,
  });
  await reaching('database', 'DATABASE_URL', () => dataSource.initialize());
  const pool = (dataSource.driver as PostgresDriver).master as Pool;
  outliveConnections(pool);
  const client = await pool.connect();
  try {
    // Asked for again and again: a session that waits in a statement would hold up `create index concurrently`.
    const until = Date.now() + PATIENCE_MS;
    const lock = 'select pg_try_advisory_lock($1) as mine';
    for (const key of [MIGRATION_LOCK, FORMER_LOCK]) {
      while (!(await client.query<{ mine: boolean }>(lock, [key])).rows[0]!.mine) {
        if (Date.now() > until)
          throw new Error('another process has been migrating the database for too long');
        await sleep(POLL_MS);
      }
    }
    // Such a version is not migrating now, and one that comes later finds nothing left to do.
    await client.query('select pg_advisory_unlock($1)', [FORMER_LOCK]);
    await refuseOlder(client, migrations);
    await persevere(dataSource, until);
  } finally {
    // Its connection ends, and the lock with it.
    client.release(true);
    await dataSource.destroy();
  }
}

/** What a migration took the place of is gone: a database in the middle of it can only be finished by an older version. */
async function refuseOlder(client: PoolClient, migrations: readonly Migration[]): Promise<void> {
  const table = await client.query(`select from pg_class where oid = to_regclass('disburse_migrations')`);
  if (table.rowCount === 0) return;
  const { rows } = await client.query<{ name: string }>('select name from disburse_migrations');
  const done = new Set(rows.map(({ name }) => name));
  for (const migration of migrations) {
    const { name = migration.name } = new migration();
    const older = migration.replaces?.find((each) => done.has(each));
    if (older === undefined || done.has(name)) continue;
    throw new ConfigError(
      `The database of DATABASE_URL has ${older} and not ${name}: it is older than this version can migrate. ` +
        'Start a process of the version before first: it migrates as it boots.',
    );
  }
}

async function persevere(dataSource: DataSource, until: number): Promise<void> {
  for (;;) {
    try {
      await dataSource.runMigrations();
      return;
    } catch (error) {
      const busy = error instanceof Error && 'code' in error && error.code === '55P03';
      if (!busy || Date.now() > until) throw error;
      new Logger('Migrations').warn({ msg: 'a migration waits for a table that is in use' });
      await sleep(PAUSE_MS);
    }
  }
}

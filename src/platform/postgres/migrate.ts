import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type MigrationInterface } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { CONNECTING, LIMITS, sessionOptions } from './session-settings.js';
import { outliveConnections } from './lost-connections.js';
import { refuseOtherMigrations } from './schema-mismatch.js';
import { reaching } from './unreachable.js';

/** Key of the advisory lock under which migrations run, so that two processes may boot at once. */
const MIGRATION_LOCK = 7_331_002;
/** How long a migration waits for a lock, and everybody who comes after it with it. */
const LOCK_TIMEOUT_MS = 1000;
/** Between tries, so that those who had to wait get their turn. */
const PAUSE_MS = 2000;
const POLL_MS = 100;
/** How long a boot tries before it fails. */
const PATIENCE_MS = 600_000;

/** Its class name ends with the timestamp of its file. */
export type Migration = new () => MigrationInterface;

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
    while (!(await client.query<{ mine: boolean }>(lock, [MIGRATION_LOCK])).rows[0]!.mine) {
      if (Date.now() > until) throw new Error('another process has been migrating the database for too long');
      await sleep(POLL_MS);
    }
    await refuseOtherMigrations(dataSource);
    await persevere(dataSource, until);
  } finally {
    // Its connection ends, and the lock with it.
    client.release(true);
    await dataSource.destroy();
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

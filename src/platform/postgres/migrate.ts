import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import { DataSource, MigrationExecutor, type MigrationInterface } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { CONNECTING, LIMITS, sessionOptions } from './session-settings.js';
import { isLockTimeout, outliveConnections, reaching } from './unavailable.js';
import { ConfigError } from '../config/settings.js';

/** The advisory lock of migrations, so that two processes may boot at once. */
const MIGRATION_LOCK = 7_331_003;
/** The time for which a migration waits for a lock, while later sessions wait behind it. */
const LOCK_TIMEOUT_MS = 1000;
/** The pause between attempts, in which blocked sessions proceed. */
const PAUSE_MS = 2000;
const POLL_MS = 100;
/** The time after which a boot that cannot migrate fails. */
const MAX_WAIT_MS = 600_000;

/** A migration of TypeORM, whose class name ends with the timestamp of its file. */
export type Migration = new () => MigrationInterface;

/** Runs missing migrations, one process at a time. Retries those that find a table in use (ADR 100). */
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
    // This replaces TypeORM's own logger, which writes to the console.
    logger: 'debug',
    poolErrorHandler: () => undefined,
  });
  await reaching('database', 'DATABASE_URL', () => dataSource.initialize());
  const pool = (dataSource.driver as PostgresDriver).master as Pool;
  outliveConnections(pool);
  const client = await pool.connect();
  try {
    // The lock is polled, because a waiting statement would delay `create index concurrently`.
    const until = Date.now() + MAX_WAIT_MS;
    const lock = 'select pg_try_advisory_lock($1) as mine';
    while (!(await client.query<{ mine: boolean }>(lock, [MIGRATION_LOCK])).rows[0]!.mine) {
      if (Date.now() > until) throw new Error('another process has been migrating the database for too long');
      await sleep(POLL_MS);
    }
    await refuseOtherMigrations(dataSource);
    await retried(dataSource, until);
  } finally {
    // This ends the connection, and the lock with it.
    client.release(true);
    await dataSource.destroy();
  }
}

async function retried(dataSource: DataSource, until: number): Promise<void> {
  for (;;) {
    try {
      await dataSource.runMigrations();
      return;
    } catch (error) {
      if (!isLockTimeout(error) || Date.now() > until) throw error;
      new Logger('Migrations').warn({ msg: 'a migration waits for a table that is in use' });
      await sleep(PAUSE_MS);
    }
  }
}

const MISMATCHES = ['3F000', '42P01', '42703', '42883', '42P06', '42P07', '42701', '42710', '42723'];

export function isSchemaMismatch(error: unknown): boolean {
  return MISMATCHES.includes((error as { readonly code?: string }).code ?? '');
}

/** Runs a boot. Throws ConfigError if a statement does not match the schema of the database. */
export async function onOwnSchema<T>(boot: () => Promise<T>): Promise<T> {
  try {
    return await boot();
  } catch (error) {
    if (!isSchemaMismatch(error)) throw error;
    throw mismatch((error as Error).message);
  }
}

/** Throws ConfigError for an unknown migration, unless a later version added it (docs/migrations.md). */
async function refuseOtherMigrations(dataSource: DataSource): Promise<void> {
  const own = dataSource.migrations.map((migration) => migration.constructor.name);
  const newest = Math.max(...own.map((name) => Number(/\d+$/.exec(name))));
  const executed = await new MigrationExecutor(dataSource).getExecutedMigrations();
  const other = executed.find(({ name, timestamp }) => timestamp <= newest && !own.includes(name));
  if (other !== undefined) throw mismatch(`it has the migration ${other.name}, which this version does not`);
}

function mismatch(why: string): ConfigError {
  return new ConfigError(
    `The database of DATABASE_URL does not have the schema of this version: ${why}. ` +
      'It was changed, or another version migrated it: start that version (docs/upgrading.md). ' +
      'A database of a build before the first release cannot be used.',
  );
}

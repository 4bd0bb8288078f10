import { MigrationExecutor, type DataSource } from 'typeorm';
import { ConfigError } from '../config/settings.js';

/** SQLSTATE of a schema, table, column, function or object that is missing, or that exists already. */
const MISMATCHES = ['3F000', '42P01', '42703', '42883', '42P06', '42P07', '42701', '42710', '42723'];

/** Runs a boot. Where a statement does not fit the schema of the database, rejects with a {@link ConfigError} that says so. */
export async function onOwnSchema<T>(boot: () => Promise<T>): Promise<T> {
  try {
    return await boot();
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    if (code === undefined || !MISMATCHES.includes(code)) throw error;
    throw mismatch(message);
  }
}

/**
 * Throws a {@link ConfigError} when the database has a migration that this version does not. One that is newer than all
 * of this version's is a later version's: it keeps what this one reads and writes (docs/migrations.md).
 */
export async function refuseOtherMigrations(dataSource: DataSource): Promise<void> {
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

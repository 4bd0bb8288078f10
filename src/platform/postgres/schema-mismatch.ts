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
    throw new ConfigError(
      `The database of DATABASE_URL does not have the schema of this version: ${message}. ` +
        'It was changed, or another version migrated it: start that version (docs/upgrading.md). ' +
        'A database of a build before the first release cannot be used.',
    );
  }
}

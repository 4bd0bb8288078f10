import { FollowedLog } from '../event-store/followed-log.js';
import { openEventStore } from '../event-store/open-event-store.js';
import type { EventStore } from '../event-store/port.js';
import { ConfigError } from '../config/settings.js';
import { Database } from '../postgres/database.js';
import { isSchemaMismatch } from '../postgres/migrate.js';
import type { CliContext } from './cli-context.js';

/** Runs `act` with database and event store. Throws ConfigError for a wrong store (ADR 102) or old schema. */
export async function connected<T>(
  cli: CliContext,
  act: (database: Database, store: EventStore) => Promise<T>,
  poolSize = 4,
): Promise<T> {
  const config = cli.config();
  const database = await Database.connect({ url: config.databaseUrl ?? '', poolSize });
  try {
    const { store, close } = await openEventStore(config, database.pool);
    try {
      await new FollowedLog(database, store).verify();
      return await act(database, store);
    } finally {
      await close();
    }
  } catch (error) {
    if (!isSchemaMismatch(error)) throw error;
    throw new ConfigError(
      `The database of DATABASE_URL is not migrated to this version (${(error as Error).message}). ` +
        'Start a process of this version first: it migrates as it boots.',
      { cause: error },
    );
  } finally {
    await database.close();
  }
}

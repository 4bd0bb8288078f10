import { ConfigError } from '../config/settings.js';
import type { Database } from '../postgres/database.js';
import type { EventStore, RecordedEvent } from './port.js';
import { PostgresCopyEnd } from './postgres/postgres-copy-end.js';

/** One end of a copy of a log from one event store to another (ADR 189). */
export interface CopyEnd {
  readonly store: EventStore;
  /** From here on it takes no appends, or they are found out. Only copies are added. */
  fence(): Promise<void>;
  /**
   * Adds events, or none, to the end of the log, which is at `after`, with the positions and times that they have. Adding
   * what is there already changes nothing, or throws.
   */
  add(after: string | null, events: readonly RecordedEvent[]): Promise<void>;
  /** It is the log `logId` from here on, and takes appends. */
  open(logId: string): Promise<void>;
  /** It is no log of a database any more. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

/** What the options of the program name: the event store in DATABASE_URL, or an EventStoreDB. */
export const COPY_END = /^(postgres$|esdb(\+discover)?:\/\/.)/;

/** `name`: as {@link COPY_END}. `database`: that of DATABASE_URL. */
export async function openCopyEnd(name: string, database: Database): Promise<CopyEnd> {
  if (name === 'postgres') return new PostgresCopyEnd(database);
  const { EventStoreDbCopyEnd } = await import('./eventstoredb/eventstoredb-copy-end.js');
  try {
    return new EventStoreDbCopyEnd(name, () => runningProcesses(database));
  } catch (error) {
    // Without the address: it may hold a password.
    throw new ConfigError(`It is no address of an EventStoreDB: ${(error as Error).name}`, { cause: error });
  }
}

/** How many processes of the service were alive within the last minute. */
async function runningProcesses(database: Database): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from platform.processes where seen_at > clock_timestamp() - interval '1 minute'`,
  );
  return row!.count;
}

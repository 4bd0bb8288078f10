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
   * Adds events to the end of the log, which is at `after`, with the positions and times that they have. Adding what is
   * there already changes nothing, or throws.
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
    return new EventStoreDbCopyEnd(name);
  } catch (error) {
    // Without the address: it may hold a password.
    throw new ConfigError(`It is no address of an EventStoreDB: ${(error as Error).name}`, { cause: error });
  }
}

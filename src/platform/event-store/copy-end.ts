import { ConfigError } from '../config/settings.js';
import type { Database } from '../postgres/database.js';
import type { EventStore, RecordedEvent } from './port.js';
import { PostgresCopyEnd } from './postgres/postgres-copy-end.js';

/** One end of a copy of a log from one event store to another (ADR 189). */
export interface CopyEnd {
  readonly store: EventStore;
  /** Adds events, or none, to the end of the log, which is at `after`, with the positions and times that they have. */
  add(after: string | null, events: readonly RecordedEvent[]): Promise<void>;
  /** Gives the log another identity. */
  identify(logId: string): Promise<void>;
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

import type { RecordedEvent } from '../event-store/port.js';
import type { TableComparison } from './compare-tables.js';

/** Compares tables with the events up to where they are. */
export interface TableCheck {
  /** Of the checkpoint. */
  readonly name: string;
  /** The next events of the log, as they are stored. */
  add(page: readonly RecordedEvent[]): Promise<void>;
  /** After the last event; by `schema.name` of the table. */
  compare(): Promise<ReadonlyMap<string, TableComparison>>;
}

import { logPages } from '../../../platform/event-store/log-pages.js';
import type { EventStore, RecordedEvent } from '../../../platform/event-store/port.js';
import { WHOLE, type Extent } from '../domain/streams.js';

/** A log as an audit reads it, from its first event to the last one that it had when the audit began. */
export interface LogSource {
  /** Null where it is not said. */
  readonly logId: string | null;
  /** Position of the last event; null: there is none. */
  readonly end: string | null;
  readonly extent: Extent;
  /** Every event of the log up to the end is there. */
  readonly isWhole: boolean;
  pages(): AsyncGenerator<readonly RecordedEvent[], void, undefined>;
}

export async function storeSource(store: EventStore): Promise<LogSource> {
  const [logId, end] = [await store.identity(), await store.head()];
  return { logId, end, extent: WHOLE, isWhole: true, pages: () => logPages(store, { end }) };
}

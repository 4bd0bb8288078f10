import { logPages } from '../../../platform/event-store/log-pages.js';
import type { EventStore, RecordedEvent } from '../../../platform/event-store/port.js';
import { type Extent, WHOLE } from '../domain/streams.js';
import type { ExportedEvent } from '../domain/event-leaf.js';
import type { ExportedLog } from '../store/exported-log.js';

/** A log as an audit reads it, from its first event to the last one that it had when the audit began. */
export interface LogSource {
  /** Null where it is not said. */
  readonly logId: string | null;
  /** Position of the last event; null: there is none. */
  readonly end: string | null;
  readonly extent: Extent;
  pages(): AsyncGenerator<readonly RecordedEvent[], void, undefined>;
}

export async function storeSource(store: EventStore): Promise<LogSource> {
  const [logId, end] = [await store.identity(), await store.head()];
  return { logId, end, extent: WHOLE, pages: () => logPages(store, { end }) };
}

/** An export in place of an event store. A file of lines without a manifest may be any part of a log. */
export function exportSource(exported: ExportedLog): LogSource {
  const { manifest } = exported;
  return {
    logId: manifest?.log_id ?? null,
    end: manifest === null ? ANYWHERE : manifest.log_end,
    extent: {
      wholeStreams: manifest !== null && manifest.scope.from === null,
      allClaims: manifest !== null && manifest.scope.merchant === null,
    },
    // What is not an event of the store has been refused line by line.
    pages: () => exported.pages() as AsyncGenerator<readonly (ExportedEvent & RecordedEvent)[]>,
  };
}

/** After every position. */
const ANYWHERE = '9'.repeat(40);

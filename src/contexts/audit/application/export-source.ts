import type { RecordedEvent } from '../../../platform/event-store/port.js';
import type { ExportedEvent } from '../domain/export-line.js';
import { isWhole } from '../domain/manifest.js';
import type { ExportedLog } from '../store/exported-log.js';
import type { LogSource } from './log-source.js';

/** An export in place of an event store. What a file of lines alone is of, nobody says: it may be any part of a log. */
export function exportSource(exported: ExportedLog): LogSource {
  const { manifest } = exported;
  return {
    logId: manifest?.log_id ?? null,
    end: manifest === null ? ANYWHERE : manifest.log_end,
    extent: {
      wholeStreams: manifest !== null && manifest.asked.from === null,
      allClaims: manifest !== null && manifest.asked.merchant === null,
    },
    isWhole: manifest !== null && isWhole(manifest.asked),
    // What is not an event of the store has been refused line by line.
    pages: () => exported.pages() as AsyncGenerator<readonly (ExportedEvent & RecordedEvent)[]>,
  };
}

/** After every position. */
const ANYWHERE = '9'.repeat(40);

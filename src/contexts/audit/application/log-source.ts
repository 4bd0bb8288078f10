import { comparePositions, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import { WHOLE, type Extent } from '../domain/streams.js';

/** Small ones leave memory before the garbage collector has to move them. */
const PAGE = 500;

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
  return { logId, end, extent: WHOLE, isWhole: true, pages: () => pagesOf(store, end) };
}

/** The next page is read while the last one is worked on. */
async function* pagesOf(store: EventStore, end: string | null): AsyncGenerator<readonly RecordedEvent[]> {
  if (end === null) return;
  let next = store.readAll(null, PAGE);
  for (;;) {
    const page = await next;
    const last = page.at(-1)?.position ?? end;
    const isOver = comparePositions(last, end) >= 0;
    next = isOver ? Promise.resolve([]) : store.readAll(last, PAGE);
    // Awaited above; until then a failure must not count as unhandled.
    next.catch(() => undefined);
    const within = isOver ? page.filter(({ position }) => comparePositions(position, end) <= 0) : page;
    if (within.length > 0) yield within;
    if (isOver) return;
  }
}

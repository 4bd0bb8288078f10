import { comparePositions, type EventStore, type RecordedEvent } from './port.js';

/** Small ones leave memory before the garbage collector has to move them. */
const PAGE = 500;

/** The range of a read: after one position, up to another or to the end. */
interface LogExtent {
  readonly after?: string | null;
  readonly end?: string | null;
}

/** The log in pages, none of them empty. The next one is read while the last one is worked on. */
export async function* logPages(
  store: Pick<EventStore, 'readAll'>,
  { after = null, end }: LogExtent = {},
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const isAtEnd = (position: string | null): boolean =>
    end !== undefined && comparePositions(position, end) >= 0;
  if (isAtEnd(after)) return;
  let next = store.readAll(after, PAGE);
  for (let page = await next; page.length > 0; page = await next) {
    const last = page.at(-1)!.position;
    next = isAtEnd(last) ? Promise.resolve([]) : store.readAll(last, PAGE);
    // Awaited above; until then a failure must not count as unhandled.
    next.catch(() => undefined);
    const within = isAtEnd(last)
      ? page.filter(({ position }) => comparePositions(position, end!) <= 0)
      : page;
    if (within.length > 0) yield within;
  }
}

import { sleep } from '../jobs/backoff.js';
import { comparePositions, type EventStore, type RecordedEvent } from './port.js';

/** The number of events per page, low enough to be freed before the garbage collector promotes them. */
const PAGE = 500;

/** Yields the log in pages. The next page is read while the caller handles the current one. */
export async function* logPages(
  store: Pick<EventStore, 'readAll'>,
  { after = null, end }: { readonly after?: string | null; readonly end?: string | null } = {},
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const isAtEnd = (position: string | null): boolean =>
    end !== undefined && comparePositions(position, end) >= 0;
  if (isAtEnd(after)) return;
  let next = store.readAll(after, PAGE);
  for (let page = await next; page.length > 0; page = await next) {
    const last = page.at(-1)!.position;
    next = isAtEnd(last) ? Promise.resolve([]) : store.readAll(last, PAGE);
    // The loop awaits `next` later. Until then, its failure must not count as unhandled.
    next.catch(() => undefined);
    const within = isAtEnd(last)
      ? page.filter(({ position }) => comparePositions(position, end!) <= 0)
      : page;
    if (within.length > 0) yield within;
  }
}

const BATCH = 1000;
/** The minimum delay between polls, so that several events form one batch under load. */
const REST_MS = 10;
const POLL_MS = 25;
const IDLE_POLL_MS = 100;
/** The number of empty polls after which the interval grows to IDLE_POLL_MS. */
const MAX_FAST_POLLS = 40;

/**
 * Yields the events after a position and then new ones, until `signal` aborts. Polls miss nothing, because
 * positions are in commit order. A commit of this process is read at once. Throws as `readAll` does.
 */
export async function* followLog(
  store: Pick<EventStore, 'readAll' | 'committed'>,
  after: string | null,
  signal: AbortSignal,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  for (let [position, idle] = [after, 0]; !signal.aborted;) {
    const restUntil = performance.now() + REST_MS;
    const { version } = store.committed;
    const events = await store.readAll(position, BATCH);
    if (signal.aborted) return;
    position = events.at(-1)?.position ?? position;
    idle = events.length > 0 ? 0 : idle + 1;
    if (events.length > 0) yield events;
    const pollMs = idle < MAX_FAST_POLLS ? POLL_MS : IDLE_POLL_MS;
    if (events.length < BATCH) await store.committed.changedSince(version, pollMs, signal);
    const restMs = restUntil - performance.now();
    if (restMs > 0) await sleep(restMs, signal);
  }
}

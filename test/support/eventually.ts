import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The bound of every wait, generous for a busy machine. It is less than Jest's own timeout, so that a failure names the
 * waiting line.
 */
export const WAIT_MS = 180_000;

/** Pauses between two polls. They grow, because each poll costs processor time. */
const [FIRST_MS, LAST_MS, GROWTH] = [10, 50, 1.2];

type Nothing = null | undefined | false;

/** Polls until the result is neither null, undefined nor false, and returns it. */
export async function eventually<T>(
  poll: () => Promise<T | Nothing> | T | Nothing,
  timeoutMs = WAIT_MS,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = FIRST_MS; ; pauseMs = Math.min(LAST_MS, pauseMs * GROWTH)) {
    const found = await poll();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`nothing within ${timeoutMs} ms`);
    await sleep(pauseMs);
  }
}

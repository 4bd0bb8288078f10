import { setTimeout as sleep } from 'node:timers/promises';

/** The timeout of a wait: long for a busy machine, shorter than Jest's so that a failure names its line. */
export const WAIT_MS = 180_000;

/** Pauses between polls, which grow because each poll costs CPU time. */
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

import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long a test waits for what must come. A test that passes never waits so long: the time is for a machine that has
 * other work on all of its cores. Less than Jest's own timeout, so that the failure names the line that waited.
 */
export const WAIT_MS = 180_000;

/** Pauses between two checks. They grow: each check takes processor time from what the test waits for. */
const [FIRST_MS, LAST_MS, GROWTH] = [10, 50, 1.2];

type Nothing = null | undefined | false;

/** What `poll` finds once it finds something: anything but null, undefined and false. */
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

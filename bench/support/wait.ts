import { setTimeout as sleep } from 'node:timers/promises';

/** Polls every `everyMs` until it is true. Throws after `timeoutMs`. */
export async function eventually(
  what: string,
  condition: () => Promise<boolean>,
  timeoutMs = 60_000,
  everyMs = 50,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs / 1000} s: ${what}`);
    await sleep(everyMs);
  }
}

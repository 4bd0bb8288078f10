import { setTimeout as sleep } from 'node:timers/promises';

/** Asks every `everyMs` until it is true. Throws when it takes longer than `patienceMs`. */
export async function eventually(
  what: string,
  condition: () => Promise<boolean>,
  patienceMs = 60_000,
  everyMs = 50,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${patienceMs / 1000} s in vain: ${what}`);
    await sleep(everyMs);
  }
}

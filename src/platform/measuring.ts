import { AsyncLocalStorage } from 'node:async_hooks';

const measuring = new AsyncLocalStorage<true>();

/** Returns true in a measurement, whose statements take connections that no request waits for. */
export function isMeasuring(): boolean {
  return measuring.getStore() === true;
}

const KEPT_MS = 500;

/**
 * One run at a time, whose result everybody gets who calls meanwhile or within half a second after it: callers are
 * strangers, and each run costs queries. A failure is not kept.
 */
export function sharedMeasurement<T>(run: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | null = null;
  let endedAt = Infinity;
  return () => {
    if (last !== null && performance.now() - endedAt < KEPT_MS) return last;
    endedAt = Infinity;
    const current = measuring.run(true, run);
    last = current;
    current.then(
      () => (endedAt = performance.now()),
      () => (last = null),
    );
    return current;
  };
}

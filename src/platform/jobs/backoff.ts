import { setTimeout as timer } from 'node:timers/promises';

/** The delays of retries. They double from `firstMs` up to `maxMs`, each with jitter within [0.5 d, d]. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

export function backoffMs(
  { firstMs, maxMs }: Backoff,
  attempt: number,
  random: () => number = Math.random,
): number {
  const delay = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30));
  return delay * (0.5 + random() / 2);
}

/** Sleeps for the delay of retry `attempt` (from 0), or until `signal` aborts. */
export async function waitForRetry(backoff: Backoff, attempt: number, signal?: AbortSignal): Promise<void> {
  await sleep(backoffMs(backoff, attempt), signal);
}

export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await timer(ms, undefined, { signal, ref: true }).catch(() => undefined);
}

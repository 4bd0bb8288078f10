import { setTimeout as sleep } from 'node:timers/promises';

/** Delays that double from `firstMs` up to `maxMs`, each with jitter within [0.5 d, d]. */
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

/** Sleeps before attempt `attempt` (from 0); ends early, quietly, when `signal` aborts. */
export async function backOff(backoff: Backoff, attempt: number, signal?: AbortSignal): Promise<void> {
  await pause(backoffMs(backoff, attempt), signal);
}

/** Sleeps; ends early, quietly, when `signal` aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: true }).catch(() => undefined);
}

/** Wakes waiters in this process when something changed; a change between a check and the wait is not lost. */
export class Signal {
  private changes = 0;
  private readonly waiting = new Set<() => void>();

  /** Grows with every change; read it before the check. */
  get version(): number {
    return this.changes;
  }

  notify(): void {
    this.changes += 1;
    for (const wake of [...this.waiting]) wake();
  }

  /** Resolves when something changed since `version` was read, after `ms`, or when `abort` fires. */
  async changedSince(version: number, ms: number, abort?: AbortSignal): Promise<void> {
    if (this.changes !== version || abort?.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        abort?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      timer.unref();
      this.waiting.add(wake);
      abort?.addEventListener('abort', wake);
    });
  }
}

import { Logger } from '@nestjs/common';
import type { ProcessConfig } from '../config/config.js';
import { methodDecorator } from '../discovered-methods.js';
import type { ScheduleState } from '../telemetry/process-facts.js';
import { backoffMs, sleep, type Backoff } from './backoff.js';

export type ProcessRole = ProcessConfig['roles'][number];

/** The first delay after a failure. It doubles up to 5 s, or up to the interval if that is longer. */
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 5000;

export interface BackgroundOptions {
  readonly name: string;
  readonly everyMs: number;
  /** Does all due work. Ends early once `signal` aborts; the next run does the rest. */
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  /** The role of the processes that run the work; `worker` when absent. */
  readonly role?: ProcessRole | 'any';
  readonly backoff?: Backoff;
  /** True if the provider stops the work during its own shutdown. */
  readonly stopsWithProvider?: true;
}

/**
 * A task that runs at the start, at every tick of its interval and after each wake. A process has one run at
 * a time. A tick during a run is skipped; a wake during a run causes another run. A failed run is logged and
 * repeated after a growing delay, which ticks and wakes do not shorten.
 *
 * Providers declare it by `@Periodic()` on a method, or by `@Background()` on a field to wake or stop it.
 * Work for one process at a time claims an item of `work.items`.
 */
export class BackgroundWork {
  private readonly stopping = new AbortController();
  private interval: NodeJS.Timeout | null = null;
  private loop: Promise<void> | null = null;
  private isRequested = false;
  private lastAt: number | null = null;
  private nextAt: number | null = null;

  constructor(readonly options: BackgroundOptions) {}

  /** The times of the last run and of the next tick. */
  get schedule(): ScheduleState {
    const { name, everyMs } = this.options;
    const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
    return { name, every_ms: everyMs, last_at: iso(this.lastAt), next_at: iso(this.nextAt) };
  }

  /** Requests a run. It has no effect before the start. */
  wake(): void {
    this.isRequested = true;
    if (this.interval !== null) this.loop ??= this.runUntilIdle(this.stopping.signal);
  }

  start(): NodeJS.Timeout {
    if (this.interval !== null) return this.interval;
    this.interval = setInterval(() => {
      this.nextAt = Date.now() + this.options.everyMs;
      if (this.loop === null) this.wake();
    }, this.options.everyMs).unref();
    this.nextAt = Date.now() + this.options.everyMs;
    this.wake();
    return this.interval;
  }

  /** Stops the work for good and resolves once the current run has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearInterval(this.interval ?? undefined);
    await this.loop;
  }

  private async runUntilIdle(signal: AbortSignal): Promise<void> {
    const { name, everyMs, run } = this.options;
    const backoff = this.options.backoff ?? {
      firstMs: FIRST_RETRY_MS,
      maxMs: Math.max(MAX_RETRY_MS, everyMs),
    };
    for (let failures = 0; this.isRequested && !signal.aborted;) {
      this.isRequested = false;
      this.lastAt = Date.now();
      try {
        await run(signal);
        failures = 0;
      } catch (error) {
        const delayMs = backoffMs(backoff, failures);
        failures += 1;
        log.warn({ msg: 'background work failed', work: name, failures, delayMs, err: error });
        await sleep(delayMs, signal);
        this.isRequested = true;
      }
    }
    this.loop = null;
  }
}

const log = new Logger(BackgroundWork.name);

export const Periodic = methodDecorator<
  Omit<BackgroundOptions, 'run'>,
  (signal: AbortSignal) => Promise<unknown>
>();

const FIELDS = Symbol('background work');

export function Background(): PropertyDecorator {
  return (provider, field) => {
    const fields = (Reflect.getMetadata(FIELDS, provider) ?? []) as readonly PropertyKey[];
    Reflect.defineMetadata(FIELDS, [...fields, field], provider);
  };
}

export function findBackgroundWork(provider: unknown): readonly BackgroundWork[] {
  if (typeof provider !== 'object' || provider === null) return [];
  const fields = (Reflect.getMetadata(FIELDS, provider) ?? []) as readonly PropertyKey[];
  return fields.flatMap(
    (field) => Reflect.get(provider, field) as BackgroundWork | readonly BackgroundWork[],
  );
}

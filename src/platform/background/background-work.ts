import { Logger } from '@nestjs/common';
import type { Config } from '../config/config.js';
import { backoffMs, pause, type Backoff } from './backoff.js';
import { Signal } from './signal.js';

/** What a process does, of ROLES. */
export type Role = Config['roles'][number];

/** After a failure: at first soon; in the end every 5 s, or as rarely as the work is done anyway. */
const FIRST_RETRY_MS = 250;
const MOST_RETRY_MS = 5000;

export interface BackgroundOptions {
  /** What the log calls it. */
  readonly name: string;
  /** From the end of a run to the next, unless somebody asks for it sooner. */
  readonly everyMs: number;
  /** Does all there is to do. Once `signal` aborts it ends where it can: what it leaves undone is done by the next run. */
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  /** Which processes do it; `worker` when absent. */
  readonly role?: Role | 'any';
  readonly backoff?: Backoff;
  /** Its provider stops it, in the order of its own shutdown. */
  readonly stopsWithProvider?: true;
}

/**
 * Work that is due again and again: once at the start, then after every interval and whenever it is woken, never twice
 * at a time in a process. A wake during a run is followed by one more run. A run that fails is logged and repeated after
 * a delay that grows; wakes do not shorten that.
 *
 * As a field of a provider it is all that the provider says of the matter: {@link BackgroundModule} finds it, starts it
 * in processes of its role, and stops it. What only one process may do at a time takes a lock or a lease in its run.
 */
export class BackgroundWork {
  private readonly wakes = new Signal();
  private readonly stopping = new AbortController();
  private loop: Promise<void> | null = null;

  constructor(readonly options: BackgroundOptions) {}

  /** Asks for a run; returns at once. Without effect where the work is not done. */
  wake(): void {
    this.wakes.notify();
  }

  start(): void {
    this.loop ??= this.keepRunning(this.stopping.signal);
  }

  /** For good; resolves once the run under way has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  private async keepRunning(signal: AbortSignal): Promise<void> {
    const { name, everyMs, run } = this.options;
    const backoff = this.options.backoff ?? {
      firstMs: FIRST_RETRY_MS,
      mostMs: Math.max(MOST_RETRY_MS, everyMs),
    };
    for (let failures = 0; !signal.aborted;) {
      const { version } = this.wakes;
      try {
        await run(signal);
        failures = 0;
        await this.wakes.changedSince(version, everyMs, signal);
      } catch (error) {
        const delayMs = backoffMs(backoff, failures);
        failures += 1;
        log.warn({ msg: 'background work failed', work: name, failures, delayMs, error });
        await pause(delayMs, signal);
      }
    }
  }
}

const log = new Logger(BackgroundWork.name);

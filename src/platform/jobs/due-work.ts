import { Logger } from '@nestjs/common';
import { backoffMs, type Backoff } from './backoff.js';
import { BackgroundWork } from './background-work.js';
import type { ClaimOptions, Next, WorkItem, WorkItems } from './work-items.js';

/** The outcome of an item. `retry` counts a failure. Without `inMs`, the kind's backoff applies. */
export type WorkOutcome = 'done' | 'retry' | (Omit<Next, 'inMs'> & Partial<Pick<Next, 'inMs'>>);

export interface WorkKind<State extends object> {
  readonly kind: string;
  readonly everyMs: number;
  readonly batch: number;
  /** The time after which another process may claim the item of a dead or slow process. */
  readonly leaseMs: number;
  /** Renews the lease while the process performs the item. */
  readonly keepsLease?: true;
  readonly retry: Backoff;
  readonly claims?: () => Pick<ClaimOptions, 'lines' | 'except'>;
  /** Performs an item. A crash may interrupt and repeat it. An error is logged and the item retried. */
  readonly perform: (item: WorkItem<State>, signal: AbortSignal) => Promise<WorkOutcome>;
}

/** Performs the due items of one kind, in any number of processes. */
export class DueWork<State extends object = object> extends BackgroundWork {
  constructor(
    private readonly items: WorkItems,
    private readonly of: WorkKind<State>,
  ) {
    super({ name: of.kind, everyMs: of.everyMs, run: (signal) => this.drain(signal) });
  }

  private async drain(signal: AbortSignal): Promise<void> {
    const { kind, batch: limit, leaseMs, claims } = this.of;
    for (let more = true; more && !signal.aborted;) {
      const claimed = await this.items.claim<State>({ kind, limit, leaseMs, ...claims?.() });
      await Promise.all(claimed.items.map((item) => this.settle(item, signal)));
      ({ more } = claimed);
    }
  }

  private async settle(item: WorkItem<State>, signal: AbortSignal): Promise<void> {
    const outcome = await this.toOutcome(item, signal);
    if (outcome === 'done') await this.items.complete(item);
    else await this.items.retry(item, outcome);
  }

  private async toOutcome(item: WorkItem<State>, signal: AbortSignal): Promise<'done' | Next> {
    const { kind, key, failures } = item;
    const { keepsLease, leaseMs, perform, retry } = this.of;
    const inMs = backoffMs(retry, failures);
    const work = (): Promise<WorkOutcome> => perform(item, signal);
    try {
      const outcome = await (keepsLease ? this.items.whileClaimed(item, leaseMs, work) : work());
      if (outcome === 'done') return outcome;
      return outcome === 'retry' ? { inMs, failure: { cause: null } } : { inMs, ...outcome };
    } catch (error) {
      log.warn({ msg: 'work failed', kind, key, failures: failures + 1, delayMs: inMs, err: error });
      return { inMs, failure: { cause: String(error) } };
    }
  }
}

const log = new Logger(DueWork.name);

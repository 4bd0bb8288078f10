import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { failpoint } from '../../platform/failpoints.js';
import { comparePositions } from '../port.js';
import { Checkpoints } from './checkpoints.js';

const POLL_MS = 15;
/** Subscriptions that run here tell how far they are; looking is for the case that they are stuck. */
const POLL_OWN_MS = 150;

interface Waiter {
  readonly name: string;
  readonly position: string;
  settle(reached: boolean): void;
}

/**
 * Lets an answer wait until the read models show what it wrote (read your own writes). The runner of this process
 * tells how far it is; for runners elsewhere the checkpoints are polled, and only while somebody waits.
 */
@Injectable()
export class ViewProgress {
  private readonly positions = new Map<string, string>();
  private readonly waiters = new Set<Waiter>();
  private poll: NodeJS.Timeout | null = null;
  private runningHere: ReadonlySet<string> = new Set();

  constructor(
    private readonly checkpoints: Checkpoints,
    @Inject(CONFIG) private readonly config: Pick<Config, 'readYourWritesMs'>,
  ) {}

  /**
   * True once the subscription `name` has passed `position` in any process; false after READ_YOUR_WRITES_MS.
   * A null position (nothing was written) has been reached.
   */
  async reached(name: string, position: string | null): Promise<boolean> {
    const reached = position === null || this.hasPassed(name, position) || (await this.wait(name, position));
    failpoint('views.waited');
    return reached;
  }

  /** The runner's word that it works on these subscriptions in this process. */
  runsHere(names: readonly string[]): void {
    this.runningHere = new Set(names);
  }

  /** The runner's word that `name` has passed `position`. */
  advanced(name: string, position: string): void {
    if (comparePositions(position, this.positions.get(name) ?? null) <= 0) return;
    this.positions.set(name, position);
    for (const waiter of this.waiters) {
      if (waiter.name === name && comparePositions(waiter.position, position) <= 0) waiter.settle(true);
    }
  }

  private hasPassed(name: string, position: string): boolean {
    return comparePositions(this.positions.get(name) ?? null, position) >= 0;
  }

  private async wait(name: string, position: string): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (reached: boolean): void => {
        clearTimeout(timer);
        this.waiters.delete(waiter);
        resolve(reached);
      };
      const timer = setTimeout(() => settle(false), this.config.readYourWritesMs);
      const waiter = { name, position, settle };
      this.waiters.add(waiter);
      this.schedulePoll();
    });
  }

  private schedulePoll(): void {
    if (this.poll !== null) return;
    const elsewhere = [...this.waiters].some(({ name }) => !this.runningHere.has(name));
    const look = (): void => {
      void this.look().finally(() => {
        this.poll = null;
        if (this.waiters.size > 0) this.schedulePoll();
      });
    };
    this.poll = setTimeout(look, elsewhere ? POLL_MS : POLL_OWN_MS).unref();
  }

  private async look(): Promise<void> {
    const names = new Set([...this.waiters].map(({ name }) => name));
    if (names.size === 0) return;
    try {
      for (const [name, position] of await this.checkpoints.read([...names])) {
        if (position !== null) this.advanced(name, position);
      }
    } catch {
      // The database is away: whoever waits gives up in time by itself.
    }
  }
}

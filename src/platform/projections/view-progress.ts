import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { failpoint } from '../failpoints.js';
import { withTimeout } from '../timeout.js';
import { EventCodec } from '../event-store/event-codec.js';
import { comparePositions, EVENT_STORE, type EventStore } from '../event-store/port.js';
import { GroupCall } from '../background/group-call.js';
import { Checkpoints } from './checkpoints.js';
import { SubscriptionRegistry } from './subscription-registry.js';
import { WantedScan } from './wanted-scan.js';

const POLL_MS = 15;
/** Subscriptions that run here tell how far they are; looking is for the case that they are stuck. */
const POLL_OWN_MS = 150;

interface Waiter {
  readonly name: string;
  readonly position: string;
  settle(reached: boolean): void;
}

/**
 * Lets a response wait until the read models show what it wrote (read your own writes). The runner of this process
 * tells how far it is; for runners elsewhere the checkpoints are polled, and only while somebody waits.
 */
@Injectable()
export class ViewProgress {
  private readonly positions = new Map<string, string>();
  private readonly waiters = new Set<Waiter>();
  private poll: NodeJS.Timeout | null = null;
  private runningHere: ReadonlySet<string> = new Set();
  private readonly heads = shared(() => this.store.head());
  private readonly looks = new Map<string, GroupCall<void, string | null>>();

  constructor(
    private readonly checkpoints: Checkpoints,
    private readonly registry: SubscriptionRegistry,
    private readonly codec: EventCodec,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'readYourWritesMs'>,
  ) {}

  /**
   * True once the subscription `name` has passed `position` in any process; false after READ_YOUR_WRITES_MS.
   * A null position (nothing was written) has been reached.
   */
  async reached(
    name: string,
    position: string | null,
    patienceMs = this.config.readYourWritesMs,
  ): Promise<boolean> {
    const reached =
      position === null || this.hasPassed(name, position) || (await this.wait(name, position, patienceMs));
    failpoint('views.waited');
    return reached;
  }

  /**
   * True once the subscription `name` has applied all that was written before the call, by whichever process; false
   * after READ_YOUR_WRITES_MS, in which the look at how far that is has its part. Rejects when the event store is unavailable.
   */
  async current(name: string): Promise<boolean> {
    const { readYourWritesMs } = this.config;
    const started = performance.now();
    const target = await withTimeout(readYourWritesMs, this.target(name), () => undefined);
    if (target === undefined) return false;
    return this.reached(name, target, readYourWritesMs - (performance.now() - started));
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

  /** `name` is at `position`, also where a crash of PostgreSQL took it back. */
  takenBack(name: string, position: string | null): void {
    if (position === null) this.positions.delete(name);
    else this.positions.set(name, position);
  }

  /** Where the subscription has to come to be current. Calls share a look, but none that began before they came. */
  private target(name: string): Promise<string | null> {
    if (this.runningHere.has(name)) return this.heads.call();
    let looks = this.looks.get(name);
    if (looks === undefined) {
      const scan = new WantedScan(this.registry.get(name), this.codec, this.store);
      looks = shared(async () => {
        const checkpoint = (await this.checkpoints.read([name])).get(name) ?? null;
        if (checkpoint !== null && !this.hasPassed(name, checkpoint)) this.advanced(name, checkpoint);
        else this.takenBack(name, checkpoint);
        return scan.after(checkpoint);
      });
      this.looks.set(name, looks);
    }
    return looks.call();
  }

  private hasPassed(name: string, position: string): boolean {
    return comparePositions(this.positions.get(name) ?? null, position) >= 0;
  }

  private async wait(name: string, position: string, patienceMs: number): Promise<boolean> {
    let waiter!: Waiter;
    const reached = new Promise<boolean>((resolve) => (waiter = { name, position, settle: resolve }));
    this.waiters.add(waiter);
    this.schedulePoll();
    return withTimeout(Math.max(0, patienceMs), reached, () => false).finally(() =>
      this.waiters.delete(waiter),
    );
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
      // The database is unavailable: whoever waits runs into its timeout.
    }
  }
}

/** Callers that come while a run is under way share the next one. */
function shared<T>(run: () => Promise<T>): GroupCall<void, T> {
  return new GroupCall<void, T>(
    async (callers) => {
      const value = await run();
      return callers.map(() => value);
    },
    { most: Infinity },
  );
}

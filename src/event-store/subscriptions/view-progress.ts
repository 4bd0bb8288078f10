import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { failpoint } from '../../platform/failpoints.js';
import { EventCodec } from '../event-codec.js';
import { comparePositions, EVENT_STORE, type EventStore } from '../port.js';
import { Checkpoints } from './checkpoints.js';
import { SubscriptionRegistry } from './subscription-registry.js';

const POLL_MS = 15;
/** Events looked at in one go for whether a subscription elsewhere wants them. */
const PAGE = 500;
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
  private head: Promise<string | null> | null = null;
  private nextHead: Promise<string | null> | null = null;

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
  async reached(name: string, position: string | null): Promise<boolean> {
    const reached = position === null || this.hasPassed(name, position) || (await this.wait(name, position));
    failpoint('views.waited');
    return reached;
  }

  /**
   * True once the subscription `name` has applied all that was written before the call, by whichever process; false
   * after READ_YOUR_WRITES_MS. Rejects when the event store is away.
   */
  async current(name: string): Promise<boolean> {
    return this.reached(
      name,
      this.runningHere.has(name) ? await this.headFromNow() : await this.lastWanted(name),
    );
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

  /** The runner's word that a crash of PostgreSQL took `name` back to `position`. */
  takenBack(name: string, position: string | null): void {
    if (position === null) this.positions.delete(name);
    else this.positions.set(name, position);
  }

  /** Position of the newest event. Calls share a query, but none that began before they came. */
  private headFromNow(): Promise<string | null> {
    this.nextHead ??= (this.head ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => {
        this.nextHead = null;
        this.head = this.store.head();
        return this.head;
      });
    return this.nextHead;
  }

  /** Where a subscription that runs elsewhere has to come: its checkpoint trails behind events that it does not want. */
  private async lastWanted(name: string): Promise<string | null> {
    const wanted = new Set(this.registry.get(name).events);
    let after = (await this.checkpoints.read([name])).get(name) ?? null;
    let last: string | null = null;
    for (
      let page = await this.store.readAll(after, PAGE);
      page.length > 0;
      page = await this.store.readAll(after, PAGE)
    ) {
      last = page.findLast(({ type }) => wanted.has(this.codec.currentName(type)))?.position ?? last;
      after = page.at(-1)!.position;
    }
    return last;
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

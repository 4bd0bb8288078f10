import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../kernel/domain-error.js';
import { storeConfig, type StoreConfig } from '../config/config.js';
import { failpoint } from '../failpoints.js';
import { readWaits } from '../telemetry/metrics.js';
import { withTimeout } from '../timeout.js';
import { EventCodec } from '../event-store/event-codec.js';
import { logPages } from '../event-store/log-pages.js';
import { comparePositions, EVENT_STORE, type EventStore } from '../event-store/port.js';
import { GroupCall } from '../jobs/group-call.js';
import { Checkpoints } from './checkpoints.js';
import type { SubscriptionDefinition } from './projection.js';
import { SubscriptionRegistry } from './subscription-registry.js';

const POLL_MS = 15;
/** The poll interval for subscriptions of this process, which normally report their progress. */
const POLL_OWN_MS = 150;
const MAX_SCAN_PAGES = 4;

interface Waiter {
  readonly name: string;
  readonly position: string;
  settle(reached: boolean): void;
}

/** Lets a response wait until the read models include its events, in this or another process. */
@Injectable()
export class SubscriptionProgress {
  private readonly positions = new Map<string, string>();
  private readonly waiters = new Set<Waiter>();
  private poll: NodeJS.Timeout | null = null;
  private runningHere: ReadonlySet<string> = new Set();
  private readonly heads = shared(() => this.store.head());
  private readonly scans = new Map<string, GroupCall<void, string | null>>();

  constructor(
    private readonly checkpoints: Checkpoints,
    private readonly registry: SubscriptionRegistry,
    private readonly codec: EventCodec,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(storeConfig.KEY) private readonly config: StoreConfig,
  ) {}

  /** Resolves to true once any process applied the events up to the position, to false after the timeout. */
  async waitFor(
    name: string,
    position: string | null,
    timeoutMs = this.config.readYourWritesMs,
  ): Promise<boolean> {
    const reached =
      position === null || this.hasPassed(name, position) || (await this.wait(name, position, timeoutMs));
    readWaits.inc({ outcome: reached ? 'current' : 'late' });
    failpoint('views.waited');
    return reached;
  }

  /**
   * Resolves to true once all events from before the call are applied. Resolves to false after
   * READ_YOUR_WRITES_MS. Rejects while the event store is unavailable.
   */
  async waitUntilCurrent(name: string): Promise<boolean> {
    const { readYourWritesMs } = this.config;
    const started = performance.now();
    const reading = withTimeout(readYourWritesMs, this.target(name), () => undefined);
    const target = await reading.catch((error: unknown) => {
      readWaits.inc({ outcome: 'failed' });
      throw error;
    });
    if (target === undefined) {
      readWaits.inc({ outcome: 'late' });
      return false;
    }
    return this.waitFor(name, target, readYourWritesMs - (performance.now() - started));
  }

  /** Waits until the earlier events are applied (contract.md 7.1, 7.2). Throws `unavailable` on a timeout. */
  async requireCurrent(name: string): Promise<void> {
    if (!(await this.waitUntilCurrent(name)))
      throw new DomainError('unavailable', 'The data is not up to date at the moment');
  }

  runsHere(names: readonly string[]): void {
    this.runningHere = new Set(names);
  }

  advanced(name: string, position: string): void {
    if (comparePositions(position, this.positions.get(name) ?? null) <= 0) return;
    this.positions.set(name, position);
    for (const waiter of this.waiters) {
      if (waiter.name === name && comparePositions(waiter.position, position) <= 0) waiter.settle(true);
    }
  }

  /** Sets the position of a subscription, also backwards after a crash of PostgreSQL. */
  rewound(name: string, position: string | null): void {
    if (position === null) this.positions.delete(name);
    else this.positions.set(name, position);
  }

  /** Finds the position at which the subscription is current. Concurrent calls share the next scan. */
  private target(name: string): Promise<string | null> {
    if (this.runningHere.has(name)) return this.heads.call();
    let scans = this.scans.get(name);
    if (scans === undefined) {
      const scan = new RelevantScan(this.registry.get(name), this.codec, this.store);
      scans = shared(async () => {
        const checkpoint = (await this.checkpoints.read([name])).get(name) ?? null;
        if (checkpoint !== null && !this.hasPassed(name, checkpoint)) this.advanced(name, checkpoint);
        else this.rewound(name, checkpoint);
        return scan.after(checkpoint);
      });
      this.scans.set(name, scans);
    }
    return scans.call();
  }

  private hasPassed(name: string, position: string): boolean {
    return comparePositions(this.positions.get(name) ?? null, position) >= 0;
  }

  private async wait(name: string, position: string, timeoutMs: number): Promise<boolean> {
    let waiter!: Waiter;
    const reached = new Promise<boolean>((resolve) => (waiter = { name, position, settle: resolve }));
    this.waiters.add(waiter);
    this.schedulePoll();
    return withTimeout(Math.max(0, timeoutMs), reached, () => false).finally(() =>
      this.waiters.delete(waiter),
    );
  }

  private schedulePoll(): void {
    if (this.poll !== null) return;
    const elsewhere = [...this.waiters].some(({ name }) => !this.runningHere.has(name));
    const poll = (): void => {
      void this.readCheckpoints().finally(() => {
        this.poll = null;
        if (this.waiters.size > 0) this.schedulePoll();
      });
    };
    this.poll = setTimeout(poll, elsewhere ? POLL_MS : POLL_OWN_MS).unref();
  }

  private async readCheckpoints(): Promise<void> {
    const names = new Set([...this.waiters].map(({ name }) => name));
    if (names.size === 0) return;
    try {
      for (const [name, position] of await this.checkpoints.read([...names])) {
        if (position !== null) this.advanced(name, position);
      }
    } catch {
      // While the database is unavailable, waiters time out.
    }
  }
}

/** Finds the last relevant event, because checkpoints lag behind irrelevant ones. Reads each event once. */
class RelevantScan {
  private readonly names: ReadonlySet<string>;
  /** The range of the events read so far, after `from` up to `to`; `last` is the last relevant event. */
  private from: string | null = null;
  private to: string | null = null;
  private last: string | null = null;

  constructor(
    definition: SubscriptionDefinition,
    private readonly codec: EventCodec,
    private readonly store: EventStore,
  ) {
    this.names = new Set(definition.events);
  }

  /** Returns the position that the subscription has to reach, or null. Calls must not overlap. */
  async after(checkpoint: string | null): Promise<string | null> {
    const head = await this.store.head();
    if (comparePositions(checkpoint, head) >= 0) return null;
    // The checkpoint is beyond the read range, or a crash of PostgreSQL rewound it.
    if (comparePositions(this.to, checkpoint) < 0 || comparePositions(checkpoint, this.from) < 0) {
      this.from = this.to = checkpoint;
      this.last = null;
    }
    let pages = 0;
    for await (const events of logPages(this.store, { after: this.to, end: head })) {
      // The subscription is too far behind for a scan.
      if (pages === MAX_SCAN_PAGES) return head;
      pages += 1;
      this.last =
        events.findLast(({ type }) => this.names.has(this.codec.currentName(type)))?.position ?? this.last;
      this.to = events.at(-1)!.position;
    }
    return comparePositions(this.last, checkpoint) > 0 ? this.last : null;
  }
}

/** Returns a call whose runs callers share: callers that arrive during a run share the next run. */
function shared<T>(run: () => Promise<T>): GroupCall<void, T> {
  return new GroupCall<void, T>(
    async (callers) => {
      const value = await run();
      return callers.map(() => value);
    },
    { max: Infinity },
  );
}

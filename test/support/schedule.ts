import type { Commit, CommitResult, EventStore } from '../../src/platform/event-store/port.js';

/** A process that ended in the middle of something. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/** So many steps of one actor, before another continues. */
export interface Slot {
  readonly actor: number;
  readonly steps: number;
}

/**
 * Runs actors one step at a time in a given order while all others wait, so that a generated order can be repeated.
 * After the last slot the first that waits continues.
 */
export class Schedule {
  private readonly waiting = new Map<number, () => void>();
  private readonly done = new Map<number, number>();
  private slot = 0;
  private used = 0;

  constructor(
    private live: number,
    private readonly slots: readonly Slot[],
    /** Actors that are killed, and at which of their steps. */
    private readonly kills: ReadonlyMap<number, number>,
    /** Actors that stall, and before which of their steps, until no other actor has anything to do. */
    private readonly stalls: ReadonlyMap<number, number>,
  ) {}

  /** Everything that an actor does. Gives what it threw. */
  async act(work: () => Promise<void>): Promise<unknown> {
    try {
      await work();
      return null;
    } catch (error) {
      return error;
    } finally {
      this.live -= 1;
      this.next();
    }
  }

  /** One call to the outside: its effect and its response are steps of their own. */
  async call<T>(actor: number, effect: () => Promise<T>): Promise<T> {
    await this.step(actor);
    const response = await effect();
    await this.step(actor);
    return response;
  }

  private async step(actor: number): Promise<void> {
    const steps = (this.done.get(actor) ?? 0) + 1;
    this.done.set(actor, steps);
    await new Promise<void>((go) => {
      this.waiting.set(actor, go);
      this.next();
    });
    if (this.kills.get(actor) === steps) throw new Killed();
  }

  private next(): void {
    if (this.waiting.size === 0 || this.waiting.size < this.live) return;
    const actor = this.chosen();
    const go = this.waiting.get(actor)!;
    this.waiting.delete(actor);
    go();
  }

  private chosen(): number {
    for (; this.slot < this.slots.length; this.slot += 1, this.used = 0) {
      const { actor, steps } = this.slots[this.slot]!;
      if (!this.waiting.has(actor) || this.used === steps || this.isStalled(actor)) continue;
      this.used += 1;
      return actor;
    }
    const actors = [...this.waiting.keys()].sort();
    return actors.find((actor) => !this.isStalled(actor)) ?? actors[0]!;
  }

  private isStalled(actor: number): boolean {
    return this.stalls.get(actor) === this.done.get(actor);
  }
}

/** A store that is not atomic as one actor sees it: each separate operation of EventStoreDB is a separate call. */
export function scheduledStore(inner: EventStore, schedule: Schedule, actor: number): EventStore {
  const call = <T>(effect: () => Promise<T>): Promise<T> => schedule.call(actor, effect);
  const methods: Partial<EventStore> = {
    readStream: (...args) => call(() => inner.readStream(...args)),
    readAll: (...args) => call(() => inner.readAll(...args)),
    async commit({ appends }: Commit): Promise<CommitResult> {
      const checks = appends.filter(({ events }) => events.length === 0);
      const writes = appends.filter(({ events }) => events.length > 0);
      let position: string | null = null;
      for (const append of [...checks, ...writes]) {
        const result = await call(() => inner.commit({ appends: [append] }));
        if (result.outcome !== 'committed') return result;
        position = result.position ?? position;
      }
      return { outcome: 'committed', position, revisions: [] };
    },
  };
  return Object.assign(Object.create(inner) as EventStore, methods);
}

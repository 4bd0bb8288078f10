import type fc from 'fast-check';
import type { CommitResult, EventStore } from '../../../src/platform/event-store/port.js';
import { overridden } from '../../support/event-store/counter.js';

class Killed extends Error {
  override readonly name = 'Killed';
}

/** The steps of the actors in a generated order. The effect of a call and its response are separate steps. */
export class Steps {
  private readonly done = new Map<number, number>();
  private readonly stalled: (() => void)[] = [];

  constructor(
    private readonly scheduler: fc.Scheduler,
    private live: number,
    private readonly kills: ReadonlyMap<number, number>,
    /** Actors that stall before a step until no other actor has work. */
    private readonly stalls: ReadonlyMap<number, number>,
  ) {}

  async act(work: () => Promise<void>): Promise<unknown> {
    const error = await work().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    this.live -= 1;
    this.continueStalled();
    return error;
  }

  async call<T>(actor: number, effect: () => Promise<T>): Promise<T> {
    await this.step(actor);
    const response = await effect();
    await this.step(actor);
    return response;
  }

  /** A store for one actor that is not atomic, in which each append is a call. */
  storeOf(actor: number, inner: EventStore): EventStore {
    const methods: Partial<EventStore> = {
      readStream: (...args) => this.call(actor, () => inner.readStream(...args)),
      readAll: (...args) => this.call(actor, () => inner.readAll(...args)),
      commit: async ({ appends }): Promise<CommitResult> => {
        const checksFirst = [...appends].sort(
          (a, b) => Math.sign(a.events.length) - Math.sign(b.events.length),
        );
        let position: string | null = null;
        for (const append of checksFirst) {
          const result = await this.call(actor, () => inner.commit({ appends: [append] }));
          if (result.outcome !== 'committed') return result;
          position = result.position ?? position;
        }
        return { outcome: 'committed', position, revisions: [] };
      },
    };
    return overridden(inner, methods);
  }

  private async step(actor: number): Promise<void> {
    const step = (this.done.get(actor) ?? 0) + 1;
    this.done.set(actor, step);
    if (this.stalls.get(actor) === step)
      await new Promise<void>((go) => {
        this.stalled.push(go);
        this.continueStalled();
      });
    await this.scheduler.schedule(Promise.resolve());
    if (this.kills.get(actor) === step) throw new Killed();
  }

  private continueStalled(): void {
    if (this.stalled.length === this.live) this.stalled.shift()?.();
  }
}

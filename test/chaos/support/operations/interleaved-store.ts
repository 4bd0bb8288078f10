import type { Commit, CommitResult, ReadOptions } from '../../../../src/platform/event-store/port.js';
import { InMemoryEventStore, type Memory } from '../../../support/in-memory-event-store.js';
import type { Random } from '../random.js';

export class Killed extends Error {
  override readonly name = 'Killed';
}

const MAX_PAUSES = 4;

/** One process's view of the store: each call has a random delay, and the process may be killed before or after it. */
export class InterleavedStore extends InMemoryEventStore {
  private callsLeft = Infinity;
  private isKilled = false;

  constructor(
    memory: Memory,
    atomic: boolean,
    now: () => Date,
    private readonly random: Random,
  ) {
    super(atomic, memory, now);
  }

  /** Kills the process at its call of this number. */
  killAt(call: number): void {
    this.callsLeft = call;
  }

  override commit(commit: Commit): Promise<CommitResult> {
    return this.interleaved(() => super.commit(commit));
  }

  override readStream(stream: string, options?: ReadOptions) {
    return this.interleaved(() => super.readStream(stream, options));
  }

  private async interleaved<T>(call: () => Promise<T>): Promise<T> {
    await this.wait();
    this.callsLeft -= 1;
    const dies = this.callsLeft <= 0;
    // The call of a dying process may have had its effect.
    if (this.isKilled || (dies && this.random.chance(0.5))) this.die();
    const result = await call();
    if (dies) this.die();
    await this.wait();
    return result;
  }

  private die(): never {
    this.isKilled = true;
    throw new Killed('killed');
  }

  private async wait(): Promise<void> {
    for (let pauses = this.random.below(MAX_PAUSES); pauses > 0; pauses -= 1)
      await new Promise((resolve) => setImmediate(resolve));
  }
}

import { START, type ReadPosition, type ResolvedEvent } from '@eventstore/db-client';
import { toReadPosition } from './wire.js';

/** A mark of a copy: events up to `position` in the former store precede `commit` in this one. */
interface Mark {
  readonly position: bigint;
  readonly commit: bigint;
}

/**
 * The positions of a log that may begin with copied events (ADR 189). These retain their positions, so that
 * checkpoints, ledger and heads remain valid. Marks map the retained positions to the server's own.
 */
export class Positions {
  private readonly marks: readonly Mark[];
  /** The number added to the server's positions of later events, so that they exceed the copied positions. */
  readonly shift: bigint;

  constructor(stored: readonly ResolvedEvent[]) {
    this.marks = stored.map(({ event }) => ({
      position: BigInt((event!.data as unknown as { readonly position: string }).position),
      commit: event!.position!.commit,
    }));
    const behind = this.last === undefined ? 0n : this.last.position - this.last.commit;
    this.shift = behind > 0n ? behind : 0n;
  }

  get count(): number {
    return this.marks.length;
  }

  get last(): Mark | undefined {
    return this.marks.at(-1);
  }

  /** Returns the start of a read after `position`. The read may repeat earlier events. */
  startAfter(position: string | null): ReadPosition {
    if (position === null) return START;
    const requested = BigInt(position);
    if (this.last === undefined || requested > this.last.position)
      return toReadPosition(String(requested - this.shift));
    const mark = this.marks.findLast((each) => each.position <= requested);
    return mark === undefined ? START : toReadPosition(String(mark.commit));
  }
}

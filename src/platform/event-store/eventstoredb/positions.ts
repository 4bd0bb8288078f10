import { START, type ReadPosition, type ResolvedEvent } from '@eventstore/db-client';
import { toReadPosition } from './wire.js';

/** A mark of a copy. The copied events before `commit` are those with a former position up to `position`. */
interface Mark {
  readonly position: bigint;
  readonly commit: bigint;
}

/**
 * The positions of a log whose first events may be copied from another store (ADR 189). Copied events retain their
 * positions, so that checkpoints, ledger and heads remain valid. Marks, one after each page of the copy, map these to
 * the server's own.
 */
export class Positions {
  private readonly marks: readonly Mark[];
  /** The offset of the server's positions of events that were not copied, so that they follow the copied ones. */
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

  /** Returns the start of a read after `position`, which may repeat earlier events. */
  startAfter(position: string | null): ReadPosition {
    if (position === null) return START;
    const requested = BigInt(position);
    if (this.last === undefined || requested > this.last.position)
      return toReadPosition(String(requested - this.shift));
    const mark = this.marks.findLast((each) => each.position <= requested);
    return mark === undefined ? START : toReadPosition(String(mark.commit));
  }
}

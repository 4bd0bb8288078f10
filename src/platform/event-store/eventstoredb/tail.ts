import type { Position } from '@eventstore/db-client';
import { comparePositions } from '../port.js';

/**
 * What is known of the end of the log: where the newest event of ours is, and up to where the server wrote only events
 * of its own behind it (statistics, projections, metadata). Nobody looks through those a second time.
 */
export class Tail {
  private newest: string | null = null;
  private quietUpTo: Position | null = null;

  /** Everything after `newest` up to `scanned` is not ours. */
  learn(newest: string | null, scanned: Position): void {
    if (this.quietUpTo !== null && scanned.commit <= this.quietUpTo.commit) return;
    this.newest = newest;
    this.quietUpTo = scanned;
  }

  /** Position of our newest event, when `scanned` shows that nothing of ours can be between it and what is known. */
  reaches(scanned: Position): boolean {
    return this.quietUpTo !== null && scanned.commit <= this.quietUpTo.commit;
  }

  get position(): string | null {
    return this.newest;
  }

  /** Where to begin to look for what comes after `after`. */
  startAfter(after: string | null): Position | null {
    const { quietUpTo } = this;
    if (quietUpTo === null || comparePositions(after, this.newest) < 0) return null;
    return comparePositions(after, quietUpTo.commit.toString()) < 0 ? quietUpTo : null;
  }
}

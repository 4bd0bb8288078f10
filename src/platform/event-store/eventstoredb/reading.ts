import type { Position, StreamingRead } from '@eventstore/db-client';
import { NoResponseInTime } from './failures.js';
import { comparePositions } from '../port.js';

/** Objects that wait between the connection and us: enough that the connection is not stopped and started for a few. */
export const BUFFERED = { highWaterMark: 512 };

/**
 * Hands on what `read` gives until it ends or `take` says true, for enough. However it ends, the call below is
 * cancelled and emptied: with unread messages it would never come to its end, stay in memory, and hold up `close`.
 * Rejects when nothing came for `timeoutMs`, because the client waits without a bound.
 */
export async function readUntil<E>(
  read: StreamingRead<E>,
  take: (each: E) => boolean,
  timeoutMs: number,
): Promise<void> {
  let settle: (error?: unknown) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error as Error));
  });
  const timer = setTimeout(() => settle(new NoResponseInTime()), timeoutMs);
  const onData = (each: E): void => {
    timer.refresh();
    try {
      if (take(each)) stop();
    } catch (error) {
      stop(error);
    }
  };
  const stop = (error?: unknown): void => {
    read.off('data', onData);
    settle(error);
  };
  read.on('data', onData);
  read.on('end', () => settle());
  // Stays for good: an error that comes after the end must not count as unhandled.
  read.on('error', (error) => settle(error));
  try {
    await ended;
  } finally {
    clearTimeout(timer);
    read.off('data', onData);
    read.cancel().catch(() => undefined);
    read.resume();
  }
}

/**
 * What is known of the end of the log: where the newest event of ours is, and up to where the server wrote only events
 * behind it (statistics, projections, metadata). Those are skipped the second time.
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

  /** Returns the start of a read after `after`; `shift` is that of `Positions`. */
  startAfter(after: string | null, shift: bigint): Position | null {
    const { quietUpTo } = this;
    if (quietUpTo === null || comparePositions(after, this.newest) < 0) return null;
    return comparePositions(after, String(quietUpTo.commit + shift)) < 0 ? quietUpTo : null;
  }
}

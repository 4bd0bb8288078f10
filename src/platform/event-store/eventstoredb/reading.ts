import type { Position, StreamingRead } from '@eventstore/db-client';
import { NoResponseInTime } from './failures.js';
import { comparePositions } from '../port.js';

/** The buffer of a read, large enough for the connection not to pause after a few events. */
export const BUFFERED = { highWaterMark: 512 };

/**
 * Passes items to `take` until the read ends or `take` returns true. Then drains the call, which would
 * otherwise never end. Rejects after `timeoutMs` without an item, because the client has no timeout.
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
  // The listener stays: an error after the end must not count as unhandled.
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

/** The known end of the log. Reads skip the server's own events after the newest event of the service. */
export class Tail {
  position: string | null = null;
  private quietUpTo: Position | null = null;

  /** Notes that all events after `position` up to `scanned` are the server's own. */
  learn(position: string | null, scanned: Position): void {
    if (this.reaches(scanned)) return;
    this.position = position;
    this.quietUpTo = scanned;
  }

  /** Checks that no event of the service lies between `position` and `scanned`. */
  reaches(scanned: Position): boolean {
    return this.quietUpTo !== null && scanned.commit <= this.quietUpTo.commit;
  }

  /** Returns the start of a read after `after`; null if nothing can be skipped. See Positions for `shift`. */
  startAfter(after: string | null, shift: bigint): Position | null {
    const { quietUpTo } = this;
    if (quietUpTo === null || comparePositions(after, this.position) < 0) return null;
    return comparePositions(after, String(quietUpTo.commit + shift)) < 0 ? quietUpTo : null;
  }
}

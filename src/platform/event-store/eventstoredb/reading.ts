import type { StreamingRead } from '@eventstore/db-client';
import { NoResponseInTime } from './failures.js';

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

import { types } from 'node:util';
import {
  DeadlineExceededError,
  NotLeaderError,
  StreamNotFoundError,
  TimeoutError,
  UnavailableError,
} from '@eventstore/db-client';
import { backOff } from '../backoff.js';
import { EventStoreUnavailable } from '../port.js';

const RETRY = { firstMs: 50, mostMs: 800 };
const ATTEMPTS = 5;
/** gRPC statuses: deadline exceeded, unavailable. With no server the client throws these raw, without its own types. */
const AWAY_CODES: ReadonlySet<unknown> = new Set([4, 14]);
const AWAY_TYPES = [DeadlineExceededError, NotLeaderError, TimeoutError, UnavailableError] as const;

/** Whether the server, not the request, is at fault. */
export function isServerAway(error: unknown): boolean {
  if (AWAY_TYPES.some((type) => error instanceof type)) return true;
  if (!types.isNativeError(error)) return false;
  return ('code' in error && AWAY_CODES.has(error.code)) || /discover|no leader/i.test(error.message);
}

export function isNoStream(error: unknown): boolean {
  return error instanceof StreamNotFoundError;
}

/** Tries again while the server is away. An append may have been done by then: event ids make its repeat harmless. */
export async function persevere<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isServerAway(error)) throw error;
      if (attempt + 1 >= ATTEMPTS)
        throw new EventStoreUnavailable('the event store is away', { cause: error });
      await backOff(RETRY, attempt);
    }
  }
}

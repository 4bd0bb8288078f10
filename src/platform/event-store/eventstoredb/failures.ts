import { types } from 'node:util';
import {
  AccessDeniedError,
  CancelledError,
  DeadlineExceededError,
  MaxAppendSizeExceededError,
  NotLeaderError,
  StreamDeletedError,
  TimeoutError,
  UnavailableError,
} from '@eventstore/db-client';
import { QUERY_TIMEOUT_MS } from '../../postgres/session-settings.js';
import { waitForRetry } from '../../jobs/backoff.js';
import { withTimeout } from '../../timeout.js';
import { EventStoreUnavailable } from '../port.js';

const RETRY = { firstMs: 50, maxMs: 800 };
const ATTEMPTS = 5;
/** The time limit of a first attempt, short because the cluster may have elected another leader. */
const FIRST_ATTEMPT_MS = 3000;
/** The time limit after a timeout, enough to query one stopped node for the leader and then another node. */
const NEXT_ATTEMPT_MS = 1500;
/** The gRPC statuses cancelled, deadline exceeded and unavailable, which the client does not convert. */
const UNAVAILABLE_CODES: ReadonlySet<unknown> = new Set([1, 4, 14]);

export class NotReadableYet extends Error {
  override readonly name = 'NotReadableYet';
  override readonly message = 'the event store has an event that cannot be read yet';
}

const UNAVAILABLE_TYPES = [
  CancelledError,
  DeadlineExceededError,
  NotLeaderError,
  NotReadableYet,
  TimeoutError,
  UnavailableError,
] as const;
/** The messages of a server that is not ready. Some come as unknown errors without a status. */
const UNAVAILABLE_MESSAGES =
  /discover|no leader|server is not ready|rst_stream|goaway|session|socket|econn|shut(ting)? ?down/i;

/** The error for an invalid request or missing rights, which a retry would repeat. */
export class EventStoreRefusal extends Error {
  override readonly name = 'EventStoreRefusal';
}

/** Checks that the server, rather than the request, is at fault. */
function isServerUnavailable(error: unknown): boolean {
  if (UNAVAILABLE_TYPES.some((type) => error instanceof type)) return true;
  if (error instanceof EventStoreRefusal || refusal(error) !== null) return false;
  if (!types.isNativeError(error)) return false;
  return ('code' in error && UNAVAILABLE_CODES.has(error.code)) || UNAVAILABLE_MESSAGES.test(error.message);
}

/** Returns a message with the remedy for an error that every retry would repeat; null for other errors. */
function refusal(error: unknown): string | null {
  if (error instanceof AccessDeniedError) {
    return 'the event store denies access: EVENT_STORE_URL needs a user who may read all streams, read and write the streams of the service (docs/eventstoredb.md)';
  }
  if (error instanceof StreamDeletedError) {
    return `the stream ${error.streamName ?? ''} is deleted for good (a tombstone): the service never deletes one, so restore the event store from a backup`;
  }
  if (error instanceof MaxAppendSizeExceededError) {
    return `the events of one append are larger than the server takes (${error.maxAppendSize} bytes): raise its MaxAppendSize`;
  }
  return null;
}

/** The error of a timeout. The next attempt needs another channel, because the server may be stopped. */
export class NoResponseInTime extends Error {
  override readonly name = 'NoResponseInTime';
  override readonly message = 'the event store did not respond in time';
}

/**
 * Repeats `work` while the server is unavailable. `work` gets the time limit of an attempt in ms; `timeoutMs`
 * limits all attempts. `onTimeout` gets the start (`performance.now()`) of an attempt without a response.
 */
export async function retryWhileUnavailable<T>(
  work: (attemptMs: number) => Promise<T>,
  {
    timeoutMs = QUERY_TIMEOUT_MS,
    onTimeout,
  }: { timeoutMs?: number; onTimeout?: (since: number) => void } = {},
): Promise<T> {
  const until = performance.now() + timeoutMs;
  for (let before = 0, attemptMs = FIRST_ATTEMPT_MS; ; before += 1) {
    const since = performance.now();
    try {
      return await work(Math.max(1, Math.min(attemptMs, until - since)));
    } catch (error) {
      const refused = refusal(error);
      if (refused !== null) throw new EventStoreRefusal(refused, { cause: error });
      if (error instanceof NoResponseInTime) {
        attemptMs = NEXT_ATTEMPT_MS;
        onTimeout?.(since);
      } else if (!isServerUnavailable(error)) throw error;
      if (before + 1 >= ATTEMPTS || performance.now() >= until) {
        throw new EventStoreUnavailable('the event store is unavailable', { cause: error });
      }
      await waitForRetry(RETRY, before);
    }
  }
}

/** Returns the result of `work`. Rejects after `ms`, because the client waits for a stopped server. */
export function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  return withTimeout(ms, work, () => {
    throw new NoResponseInTime();
  });
}

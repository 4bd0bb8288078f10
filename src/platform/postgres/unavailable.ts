import { types } from 'node:util';
import type { Pool } from 'pg';

/** A transaction took longer than it may. */
export const TRANSACTION_TIMEOUT = '25P04';
/** The address of the database leads to a standby, as it may for a while after a promotion. */
const READ_ONLY = '25006';

/**
 * SQLSTATE classes of a server that is unavailable or shutting down, of transactions that may simply run again, and of those that
 * ended because a process stalled: the holder of the lock that was waited for, or this process.
 */
const TRANSIENT_STATES = new Set([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '40001',
  '40P01',
  '55P03',
  '25P03',
  TRANSACTION_TIMEOUT,
  READ_ONLY,
]);
const TRANSIENT_CLASSES = ['08'];
const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
const CLIENT_MESSAGES =
  /connection terminated|not queryable|connection error|query read timeout|timeout exceeded when trying to connect|client was closed/i;

/** Checks whether the database, rather than the statement, is at fault, so that a later try may succeed. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.some(isDatabaseUnavailable);
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'string') {
    if (TRANSIENT_STATES.has(code) || NETWORK_CODES.has(code)) return true;
    if (TRANSIENT_CLASSES.some((each) => code.length === 5 && code.startsWith(each))) return true;
  }
  return CLIENT_MESSAGES.test(error.message);
}

/** Checks whether all later statements on the connection fail: without a result in time, or on a standby. */
export function endsConnection(error: unknown): error is Error {
  if (!types.isNativeError(error)) return false;
  return /query read timeout/i.test(error.message) || ('code' in error && error.code === READ_ONLY);
}

/** A boot that cannot continue: the message is a sentence for the operator. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** No such database, no such user, a wrong password: PostgreSQL; a wrong or missing password: Redis. */
const REFUSED = /^(3D000|28P01|28000)$|^(WRONGPASS|NOAUTH)/;

/** A boot on a busy machine loads modules between a connection and its first message. */
const CONNECT_AGAIN = 5;

/** Runs `connect`; when what the setting names is unavailable or refuses everybody, rejects with {@link Unreachable} that says so. */
export async function reaching<T>(
  what: string,
  setting: string,
  connect: () => Promise<T>,
  again = CONNECT_AGAIN,
): Promise<T> {
  try {
    return await connect();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (again > 0 && /connection timeout/i.test(message)) return reaching(what, setting, connect, again - 1);
    if (!isDatabaseUnavailable(error) && !REFUSED.test(code ?? message)) throw error;
    // The message is empty for an address of two families.
    throw new Unreachable(`The ${what} of ${setting} cannot be reached: ${message || code}.`);
  }
}

/**
 * Lets connections of a pool die without the process. A pool listens for errors only while a client is idle, and
 * the caller of `connect()` listens only later: a server that closes at once would emit an unhandled error,
 * which ends the process. Users of such a client notice, because its queries reject.
 */
export function outliveConnections(pool: Pool): void {
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
}

function ignore(): void {}

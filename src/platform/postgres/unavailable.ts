import { types } from 'node:util';
import type { Pool } from 'pg';

export const TRANSACTION_TIMEOUT = '25P04';
/** The SQLSTATE of a write on a standby, for example after a promotion. */
const READ_ONLY = '25006';

/** The codes of unavailable servers, retryable transactions, stalled processes and network errors. */
const TRANSIENT_CODES = new Set([
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
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** The SQLSTATE class of connection exceptions. */
const CONNECTION_STATE = /^08.{3}$/;
const CLIENT_MESSAGES =
  /connection terminated|not queryable|connection error|query read timeout|timeout exceeded when trying to connect|client was closed/i;

/** Checks that the database is at fault rather than the statement, so that a retry may succeed. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.some(isDatabaseUnavailable);
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && (TRANSIENT_CODES.has(code) || CONNECTION_STATE.test(code))) return true;
  return CLIENT_MESSAGES.test(error.message);
}

/** Checks for a `lock_timeout` error, which means that another session uses the table. */
export function isLockTimeout(error: unknown): boolean {
  return types.isNativeError(error) && 'code' in error && error.code === '55P03';
}

/** Checks for an error after which the connection is unusable: a timeout, or a write on a standby. */
export function endsConnection(error: unknown): error is Error {
  if (!types.isNativeError(error)) return false;
  return /query read timeout/i.test(error.message) || ('code' in error && error.code === READ_ONLY);
}

/** The error of a boot that cannot reach a server, with a message for the operator. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** The codes for a wrong database, user or password in PostgreSQL or Redis. */
const REFUSED = /^(3D000|28P01|28000)$|^(WRONGPASS|NOAUTH)/;

/** The number of retries after a connection timeout, because a busy boot may read the first message late. */
const CONNECT_AGAIN = 5;

/** Runs `connect`. Throws Unreachable if the server is unavailable or refuses access. */
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
    // The message is empty for a host with addresses of two families.
    throw new Unreachable(`The ${what} of ${setting} cannot be reached: ${message || code}.`);
  }
}

/**
 * Ignores connection errors, which would end the process. A pool listens only to idle clients, and callers of
 * `connect()` add a listener later. Queries of a broken client fail.
 */
export function outliveConnections(pool: Pool): void {
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
}

import { types } from 'node:util';

/** A transaction took longer than it may. */
export const TRANSACTION_TIMEOUT = '25P04';

/**
 * SQLSTATE classes of a server that is unavailable or shutting down, of transactions that may simply run again, and of those that
 * ended because somebody stood still: whoever held the lock that was waited for, or this process itself.
 */
const TRANSIENT_STATES = new Set([
  ...['57P01', '57P02', '57P03', '53300', '40001', '40P01'],
  ...['55P03', '25P03', TRANSACTION_TIMEOUT],
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

/** Whether the database, not the statement, is at fault: trying again later may help. */
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

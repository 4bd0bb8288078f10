import pg, { type QueryConfig } from 'pg';
import { measuring } from '../telemetry/metrics.js';
import { outliveConnections } from './unavailable.js';

/** The delay before TCP keep-alive probes. Three probes without a reply end the connection. */
const KEEP_ALIVE_MS = 10_000;

/** The settings by which the server ends the session of an unresponsive client within half a minute. */
const CONNECTION = {
  tcp_keepalives_idle: KEEP_ALIVE_MS / 1000,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 25_000,
  client_connection_check_interval: 5000,
} as const;

/**
 * The limits of sessions that block others, in ms (ADR 98). Longer work raises them by `set local`. The lock
 * timeout is shorter than the client's, so that abandoned sessions do not queue for a lock.
 */
export const LIMITS = {
  idle_in_transaction_session_timeout: 10_000,
  lock_timeout: 8000,
  statement_timeout: 30_000,
  /** The limit that also covers clients which stop within a statement (PostgreSQL 17). */
  transaction_timeout: 60_000,
} as const;

/** The settings of a transaction that reads or rebuilds whole tables and blocks no other session. */
export const WITHOUT_TIMEOUTS =
  'set local statement_timeout = 0; set local transaction_timeout = 0; set local idle_in_transaction_session_timeout = 0';

/** The timeout of clients for any response, longer than the limit at which the server ends the session. */
export const RESPONSE_TIMEOUT_MS = LIMITS.transaction_timeout + 10_000;

export function sessionOptions(...settings: readonly Readonly<Record<string, string | number>>[]): string {
  return Object.entries({ ...CONNECTION, ...Object.assign({}, ...settings) })
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}

const { PGCONNECT_TIMEOUT: connectSeconds = '' } = process.env;

export const CONNECTING = {
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  /** PGCONNECT_TIMEOUT is in seconds. The timeout is 5 s without a positive integer; 0 would mean none. */
  connectionTimeoutMillis: 1000 * (/^[1-9][0-9]*$/.test(connectSeconds) ? Number(connectSeconds) : 5),
} as const;

export function openPool(
  options: pg.PoolConfig,
  ...settings: readonly Readonly<Record<string, string | number>>[]
): pg.Pool {
  return new ServicePool({ ...CONNECTING, ...options, options: sessionOptions(...settings) });
}

const MEASURING_CONNECTIONS = 4;

/** The pool of the service. Measurements have their own connections, so that requests do not wait for them. */
class ServicePool extends pg.Pool {
  private readonly measuring: pg.Pool;

  constructor(options: pg.PoolConfig) {
    super(options);
    this.measuring = new pg.Pool({ ...options, min: 0, max: MEASURING_CONNECTIONS });
    for (const pool of [this, this.measuring]) outliveConnections(pool);
  }

  override connect(...args: unknown[]): never {
    // pg.Pool declares one overload for each kind of result.
    if (measuring.getStore()) return this.measuring.connect(...(args as [])) as never;
    return super.connect(...(args as [])) as never;
  }

  override end(...args: unknown[]): never {
    const ended = this.measuring.end();
    return ended.then(() => super.end(...(args as []))) as never;
  }
}

/** The time limit of a request's statement, after which the database counts as unavailable. */
export const QUERY_TIMEOUT_MS = 10_000;

/** Adds a timeout in ms to a statement. The pool drops the connection after a timeout. */
export function bounded<C extends QueryConfig>(statement: C, ms = QUERY_TIMEOUT_MS): C {
  return Object.assign(statement, { query_timeout: ms });
}

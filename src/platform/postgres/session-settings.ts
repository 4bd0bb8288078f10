import pg, { type QueryConfig } from 'pg';
import { measuring } from '../telemetry/metrics.js';
import { outliveConnections } from './unavailable.js';

/** TCP keep-alive: an unresponsive peer is probed after so long, and given up after three probes. */
const KEEP_ALIVE_MS = 10_000;

/**
 * What the server does about a client whose host is gone, or who no longer takes what it is sent: it ends the session
 * within half a minute, in the middle of a statement too.
 */
const CONNECTION = {
  tcp_keepalives_idle: KEEP_ALIVE_MS / 1000,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 25_000,
  client_connection_check_interval: 5000,
} as const;

/**
 * How long a session may block others, in milliseconds. A process that stalls in a transaction (a stopped
 * container, a paused host) says nothing more: the server has to end it (ADR 98). Waiting for a lock ends before the
 * client gives up, so that abandoned sessions do not queue for it. Work that takes longer for good
 * reasons says so with `set local`.
 */
export const LIMITS = {
  idle_in_transaction_session_timeout: 10_000,
  lock_timeout: 8000,
  statement_timeout: 30_000,
  /**
   * This also ends clients that stop between two messages of one statement, which is not "idle". Since PostgreSQL 17.
   */
  transaction_timeout: 60_000,
} as const;

/** Settings of a transaction that reads or rebuilds whole tables and blocks no other session meanwhile. */
export const WITHOUT_TIMEOUTS =
  'set local statement_timeout = 0; set local transaction_timeout = 0; set local idle_in_transaction_session_timeout = 0';

/** The timeout of clients for any response. By then the server has ended the session. */
export const RESPONSE_TIMEOUT_MS = LIMITS.transaction_timeout + 10_000;

/** Settings as `options` of a new session. */
export function sessionOptions(...settings: readonly Readonly<Record<string, string | number>>[]): string {
  return Object.entries({ ...CONNECTION, ...Object.assign({}, ...settings) })
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}

/** The connection settings of the service's pools. */
export const CONNECTING = {
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  connectionTimeoutMillis: 5000,
} as const;

/** A pool of the service, whose sessions have these settings; connections may die without the process. */
export function openPool(
  options: pg.PoolConfig,
  ...settings: readonly Readonly<Record<string, string | number>>[]
): pg.Pool {
  return new ServicePool({ ...CONNECTING, ...options, options: sessionOptions(...settings) });
}

/** The most connections of measurements, in addition to those of the pool. */
const MEASURING_CONNECTIONS = 4;

/** Measurements have connections of their own: neither do requests wait for them nor they for requests. */
class ServicePool extends pg.Pool {
  private readonly measuring: pg.Pool;

  constructor(options: pg.PoolConfig) {
    super(options);
    this.measuring = new pg.Pool({ ...options, min: 0, max: MEASURING_CONNECTIONS });
    for (const pool of [this, this.measuring]) outliveConnections(pool);
  }

  override connect(...args: unknown[]): never {
    // pg.Pool declares an overload for each kind of result: both of them come from the pool below.
    if (measuring.getStore()) return this.measuring.connect(...(args as [])) as never;
    return super.connect(...(args as [])) as never;
  }

  override end(...args: unknown[]): never {
    const ended = this.measuring.end();
    return ended.then(() => super.end(...(args as []))) as never;
  }
}

/** The time of a statement for a request after which the database counts as unavailable. */
export const QUERY_TIMEOUT_MS = 10_000;

/**
 * The statement with a bound on the wait for its response, in milliseconds. A server that hangs or a network that drops
 * packets says nothing for a quarter of an hour; the pool drops a connection on which the bound was passed.
 */
export function bounded<C extends QueryConfig>(statement: C, ms = QUERY_TIMEOUT_MS): C {
  return Object.assign(statement, { query_timeout: ms });
}

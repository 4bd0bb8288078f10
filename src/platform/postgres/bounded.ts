import type { QueryConfig } from 'pg';

/** How long a statement may take that a request waits for, before the database counts as unavailable. */
export const PATIENCE_MS = 10_000;

/**
 * The statement with a bound on the wait for its response, in milliseconds. A server that hangs or a network that drops
 * packets says nothing for a quarter of an hour; the pool drops a connection on which the bound was passed.
 */
export function bounded<C extends QueryConfig>(statement: C, ms = PATIENCE_MS): C {
  return Object.assign(statement, { query_timeout: ms });
}

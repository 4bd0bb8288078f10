import type { Pool } from 'pg';

/**
 * Lets connections of a pool die without the process. A pool listens for errors only while a client is idle, and
 * whoever awaits `connect()` listens a moment later: a server that closes with its first words would find nobody,
 * which ends the process. Whoever uses such a client learns of it, because its queries reject.
 */
export function outliveConnections(pool: Pool): void {
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
}

function ignore(): void {}

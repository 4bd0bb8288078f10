import type { Pool, PoolClient } from 'pg';

/**
 * The connection that appends go through. It stays checked out while there is something to write, so that a burst
 * does not queue for the pool behind readers, and goes back when there is nothing.
 */
export class WriterConnection {
  private client: PoolClient | null = null;
  private broken = false;

  constructor(private readonly pool: Pool) {}

  async connection(): Promise<PoolClient> {
    if (this.client !== null && this.broken) this.release();
    if (this.client !== null) return this.client;
    const client = await this.pool.connect();
    this.broken = false;
    client.on('error', this.onError);
    this.client = client;
    return client;
  }

  /** The connection is in doubt: the next call opens another. */
  discard(): void {
    this.broken = true;
    this.release();
  }

  release(): void {
    const { client } = this;
    if (client === null) return;
    this.client = null;
    client.off('error', this.onError);
    client.release(this.broken);
  }

  /** A connection that dies between two calls says so here; without a listener it would end the process. */
  private readonly onError = (): void => {
    this.broken = true;
  };
}

import type { Redis } from 'ioredis';

/** How long connections that are between two tries get to find out that they are not needed, and open ones to quit. */
const PATIENCE_MS = 5000;
const RETRY_AFTER_AT_MOST_MS = 2000;
/** Nobody waits for the server on these. */
const SETTLED = ['ready', 'end', 'wait'];

/**
 * A connection to Redis and those that BullMQ copies from it. They wait for as long as the server is unavailable, and once the
 * process is leaving no longer: BullMQ's own farewell waits for the server to come back.
 */
export class RedisConnections {
  private leaving = false;
  private readonly all: Redis[] = [];

  private constructor(readonly client: Redis) {}

  /** Rejects when the server is unavailable. */
  static async open(url: string): Promise<RedisConnections> {
    const ioredis = await import('ioredis');
    const retryStrategy = (times: number): number | null =>
      connections.leaving ? null : Math.min(times * 50, RETRY_AFTER_AT_MOST_MS);
    // Workers block on their connection, so a command may wait for as long as the server is unavailable.
    const client = new ioredis.Redis(url, { maxRetriesPerRequest: null, lazyConnect: true, retryStrategy });
    const connections = new RedisConnections(client);
    let lastError: Error | null = null;
    client.on('error', (error: Error) => {
      lastError = error;
    });
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (override) => {
      const copy = duplicate(override);
      connections.all.push(copy);
      return copy;
    };
    connections.all.push(client);
    // ioredis itself says no more than that the connection is closed.
    await client.connect().catch((error: unknown) => {
      client.disconnect();
      throw lastError ?? error;
    });
    return connections;
  }

  /** Resolves once every connection is open or has ended; what is open then has some seconds to quit. */
  async leave(): Promise<void> {
    if (this.leaving) return;
    this.leaving = true;
    setTimeout(() => this.all.forEach((each) => each.disconnect()), PATIENCE_MS).unref();
    await Promise.all(this.all.map(settled));
  }

  /** Never rejects. */
  async end(): Promise<void> {
    await this.leave();
    if (this.client.status !== 'end') await this.client.quit().catch(() => undefined);
  }
}

async function settled(connection: Redis): Promise<void> {
  if (SETTLED.includes(connection.status)) return;
  await new Promise<void>((resolve) => {
    connection.once('ready', resolve);
    connection.once('end', resolve);
  });
}

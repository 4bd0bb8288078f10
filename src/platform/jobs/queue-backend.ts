import { Injectable, type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import {
  createPostgresBackend,
  runMigrations,
  setDefaultBackendFactory,
  type ConnectionOptions,
} from 'bullmq';
import type { Redis } from 'ioredis';
import { LIMITS, openPool, RESPONSE_TIMEOUT_MS } from '../postgres/session-settings.js';

const SCHEMA = 'bullmq';
/** The size of the pool, which serves all queues and needs one connection per worker for LISTEN. */
const POOL_SIZE = 6;

/** The storage of BullMQ: PostgreSQL or Redis, depending on the scheme of the URL. */
@Injectable()
export class QueueBackend implements BeforeApplicationShutdown, OnApplicationShutdown {
  private constructor(
    readonly kind: 'postgres' | 'redis',
    readonly connection: ConnectionOptions,
    readonly ping: () => Promise<unknown>,
    readonly close: () => Promise<unknown>,
    private readonly leave: () => Promise<void> = () => Promise.resolve(),
  ) {}

  /** Connects to the URL. In PostgreSQL, migrates the schema too, unless `migrates` is false. */
  static async connect(url: string, { migrates = true } = {}): Promise<QueueBackend> {
    if (/^rediss?:/.test(url)) return QueueBackend.redis(url);
    const options = {
      connectionString: url,
      application_name: 'disburse-queue',
      max: POOL_SIZE,
      query_timeout: RESPONSE_TIMEOUT_MS,
    };
    const pool = openPool(options, { search_path: SCHEMA }, LIMITS);
    if (migrates) {
      const client = await pool.connect();
      await runMigrations(client, SCHEMA).finally(() => client.release());
    }
    setDefaultBackendFactory(createPostgresBackend);
    let ended: Promise<void> | undefined;
    // BullMQ types its connections for Redis; the PostgreSQL backend takes a pool in their place.
    const connection = pool as unknown as ConnectionOptions;
    const end = (): Promise<void> => (ended ??= pool.end());
    return new QueueBackend('postgres', connection, () => pool.query('select 1'), end);
  }

  /** Ends attempts to reconnect, because BullMQ would wait for an unavailable Redis when it closes. */
  beforeApplicationShutdown(): Promise<void> {
    return this.leave();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  /** Connects to Redis. The connections wait for an unavailable server until the process shuts down. */
  private static async redis(url: string): Promise<QueueBackend> {
    const ioredis = await import('ioredis');
    let isStopping = false;
    const retryStrategy = (times: number): number | null =>
      isStopping ? null : Math.min(times * 50, RETRY_AFTER_AT_MOST_MS);
    // Commands must wait for an unavailable server, because workers block on their connection.
    const client = new ioredis.Redis(url, { maxRetriesPerRequest: null, lazyConnect: true, retryStrategy });
    const all = [client];
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (override) => {
      const copy = duplicate(override);
      all.push(copy);
      return copy;
    };
    let lastError: Error | null = null;
    client.on('error', (error: Error) => (lastError = error));
    // The error of ioredis itself has no cause.
    await client.connect().catch((error: unknown) => {
      client.disconnect();
      throw lastError ?? error;
    });
    /** Ends attempts to reconnect. Resolves once each connection is open or ended; all are cut after 5 s. */
    const leave = async (): Promise<void> => {
      if (isStopping) return;
      isStopping = true;
      setTimeout(() => all.forEach((each) => each.disconnect()), CLOSE_TIMEOUT_MS).unref();
      await Promise.all(all.map(settled));
    };
    const end = async (): Promise<void> => {
      await leave();
      if (client.status !== 'end') await client.quit().catch(() => undefined);
    };
    setDefaultBackendFactory();
    return new QueueBackend('redis', client, () => client.ping(), end, leave);
  }
}

/** The time for reconnecting clients to notice the shutdown, and for open ones to quit. */
const CLOSE_TIMEOUT_MS = 5000;
const RETRY_AFTER_AT_MOST_MS = 2000;
/** The states of a connection in which no call waits for the server. */
const SETTLED = ['ready', 'end', 'wait'];

async function settled(connection: Redis): Promise<void> {
  if (SETTLED.includes(connection.status)) return;
  await new Promise<void>((resolve) => {
    connection.once('ready', resolve);
    connection.once('end', resolve);
  });
}

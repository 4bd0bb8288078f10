import { Injectable, type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import {
  createPostgresBackend,
  runMigrations,
  setDefaultBackendFactory,
  type ConnectionOptions,
} from 'bullmq';
import type { Redis } from 'ioredis';
import type { Pool } from 'pg';
import { LIMITS, openPool, RESPONSE_TIMEOUT_MS } from '../postgres/session-settings.js';

const SCHEMA = 'bullmq';
/** One connection for the LISTEN of each worker, and others for all queues of the process. */
const POOL_SIZE = 6;

/** The storage of BullMQ, PostgreSQL or Redis by the scheme of the URL, with one set of connections. */
@Injectable()
export class QueueBackend implements BeforeApplicationShutdown, OnApplicationShutdown {
  private constructor(
    readonly kind: 'postgres' | 'redis',
    readonly connection: ConnectionOptions,
    readonly ping: () => Promise<unknown>,
    readonly close: () => Promise<unknown>,
    private readonly leave: () => Promise<void> = () => Promise.resolve(),
  ) {}

  /** Connects, and migrates the schema of PostgreSQL. */
  static async connect(url: string): Promise<QueueBackend> {
    if (/^rediss?:/.test(url)) return QueueBackend.redis(url);
    const pool = queuePool(url);
    const client = await pool.connect();
    try {
      await runMigrations(client, SCHEMA);
    } finally {
      client.release();
    }
    return QueueBackend.onPool(pool);
  }

  /** Creates the backend of a process that runs no jobs. The schema is not migrated. */
  static unused(databaseUrl: string): QueueBackend {
    return QueueBackend.onPool(queuePool(databaseUrl));
  }

  /** Runs before BullMQ closes its queues and workers, which would wait for an unavailable server. */
  beforeApplicationShutdown(): Promise<void> {
    return this.leave();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  private static onPool(pool: Pool): QueueBackend {
    setDefaultBackendFactory(createPostgresBackend);
    let ended: Promise<void> | undefined;
    return new QueueBackend(
      'postgres',
      // BullMQ types its connections for Redis; the PostgreSQL backend takes a pool in their place.
      pool as unknown as ConnectionOptions,
      () => pool.query('select 1'),
      () => (ended ??= pool.end()),
    );
  }

  private static async redis(url: string): Promise<QueueBackend> {
    const connections = await RedisConnections.open(url);
    setDefaultBackendFactory();
    return new QueueBackend(
      'redis',
      connections.client,
      () => connections.client.ping(),
      () => connections.end(),
      () => connections.leave(),
    );
  }
}

function queuePool(connectionString: string): Pool {
  const options = {
    connectionString,
    application_name: 'disburse-queue',
    max: POOL_SIZE,
    query_timeout: RESPONSE_TIMEOUT_MS,
  };
  return openPool(options, { search_path: SCHEMA }, LIMITS);
}

/** The time for reconnecting clients to notice the shutdown, and for open ones to quit. */
const CLOSE_TIMEOUT_MS = 5000;
const RETRY_AFTER_AT_MOST_MS = 2000;
/** The states of a connection in which no call waits for the server. */
const SETTLED = ['ready', 'end', 'wait'];

/** The connections to Redis, which wait for an unavailable server until the process shuts down. */
class RedisConnections {
  private stopping = false;
  private readonly all: Redis[] = [];

  private constructor(readonly client: Redis) {}

  /** Rejects when the server is unavailable. */
  static async open(url: string): Promise<RedisConnections> {
    const ioredis = await import('ioredis');
    const retryStrategy = (times: number): number | null =>
      connections.stopping ? null : Math.min(times * 50, RETRY_AFTER_AT_MOST_MS);
    // Workers block on their connection, so that a command may wait for an unavailable server.
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
    // The error of ioredis itself has no cause.
    await client.connect().catch((error: unknown) => {
      client.disconnect();
      throw lastError ?? error;
    });
    return connections;
  }

  /** Resolves once every connection is open or has ended. Open ones have some seconds to quit. */
  async leave(): Promise<void> {
    if (this.stopping) return;
    this.stopping = true;
    setTimeout(() => this.all.forEach((each) => each.disconnect()), CLOSE_TIMEOUT_MS).unref();
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

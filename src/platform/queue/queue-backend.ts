import { Injectable, type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import {
  createPostgresBackend,
  runMigrations,
  setDefaultBackendFactory,
  type ConnectionOptions,
} from 'bullmq';
import pg from 'pg';
import { outliveConnections } from '../postgres/lost-connections.js';
import { RESPONSE_TIMEOUT_MS, CONNECTING, LIMITS, sessionOptions } from '../postgres/session-settings.js';
import { RedisConnections } from './redis-connections.js';

const SCHEMA = 'bullmq';
/** Each worker keeps one connection for LISTEN; the others serve all queues of the process. */
const POOL_SIZE = 6;

/**
 * Where BullMQ keeps its jobs: PostgreSQL (its own schema), or Redis by the scheme of the URL. One set of connections
 * for all queues and workers of the process. The processors are the same on either.
 */
@Injectable()
export class QueueBackend implements BeforeApplicationShutdown, OnApplicationShutdown {
  private constructor(
    readonly kind: 'postgres' | 'redis',
    /** What BullMQ takes as `connection`. */
    readonly connection: ConnectionOptions,
    /** Resolves when the queue's server responds. */
    readonly ping: () => Promise<unknown>,
    readonly close: () => Promise<unknown>,
    private readonly leave: () => Promise<void> = () => Promise.resolve(),
  ) {}

  /** Connects by `postgres://`, `postgresql://`, `redis://` or `rediss://`; on PostgreSQL it also migrates the schema. */
  static async connect(url: string): Promise<QueueBackend> {
    return /^rediss?:/.test(url) ? QueueBackend.redis(url) : QueueBackend.postgres(url);
  }

  /** Before BullMQ closes its queues and workers, which takes as long as their server is unavailable. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.leave();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  private static async postgres(connectionString: string): Promise<QueueBackend> {
    const pool = new pg.Pool({
      connectionString,
      application_name: 'disburse-queue',
      options: sessionOptions({ search_path: SCHEMA }, LIMITS),
      max: POOL_SIZE,
      query_timeout: RESPONSE_TIMEOUT_MS,
      ...CONNECTING,
    });
    outliveConnections(pool);
    const client = await pool.connect();
    try {
      await runMigrations(client, SCHEMA);
    } finally {
      client.release();
    }
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

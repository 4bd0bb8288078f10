import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { BenchEnvironment } from '../../../../bench/support/environment.js';
import { AuthenticEventStore } from '../../../../src/platform/event-store/authentic-event-store.js';
import type { EventStore } from '../../../../src/platform/event-store/port.js';
import { PostgresEventStore } from '../../../../src/platform/event-store/postgres/postgres-event-store.js';
import { MIGRATIONS } from '../../../../src/composition.js';
import { migrate } from '../../../../src/platform/postgres/migrate.js';
import { ringOf } from '../../../support/key-ring.js';
import { Merchants } from './merchants.js';
import type { Manner } from './receiver-protocol.js';
import { Receivers } from './receivers.js';
import { ChaosRedis } from './redis.js';
import { SilentDns } from './silent-dns.js';
import { Worker } from './worker.js';

const DATABASE = 'chaos';
const RECEIVER_PROCESSES = 2;

export interface StageOptions {
  readonly endpoints: number;
  /** `silentNames` tells whether names can be had whose DNS servers never respond. */
  readonly mannerOf: (place: number, silentNames: boolean) => Manner;
  readonly queue: 'postgres' | 'redis';
  /** Settings of the workers. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * What the suites about deliveries play on: a PostgreSQL and a dev chain of the run's own, receivers in processes of
 * theirs, merchants with registered endpoints, and workers of the real build.
 */
export class Stage {
  private constructor(
    readonly environment: BenchEnvironment,
    readonly pool: pg.Pool,
    private readonly store: EventStore,
    readonly receivers: Receivers,
    readonly merchants: Merchants,
    readonly redis: ChaosRedis | null,
    readonly dns: SilentDns | null,
    private readonly workerEnv: Readonly<Record<string, string>>,
  ) {}

  static async open({ endpoints, mannerOf, queue, env }: StageOptions): Promise<Stage> {
    const environment = await BenchEnvironment.start();
    let receivers: Receivers | null = null;
    let redis: ChaosRedis | null = null;
    const dns = await SilentDns.start(environment.folder('dns'));
    try {
      const url = await environment.database(DATABASE);
      // Migrates; the workers find everything there.
      await migrate(url, MIGRATIONS);
      const pool = await environment.pool(DATABASE);
      const masterKey = randomBytes(32);
      const sealer = await ringOf(url, masterKey);
      const store = new AuthenticEventStore(new PostgresEventStore(pool), sealer);
      [receivers, redis] = await Promise.all([
        Receivers.start(RECEIVER_PROCESSES),
        queue === 'redis' ? ChaosRedis.start(environment.folder('redis')) : null,
      ]);
      const at = receivers;
      const merchants = await Merchants.register({
        store,
        sealer,
        endpoints,
        mannerOf: (place) => mannerOf(place, dns !== null),
        urlOf: (place, manner) =>
          at.urlOf(place, manner === 'unresolved' ? `silent-${place}.example` : undefined),
      });
      await receivers.introduce(merchants.hooks);
      return new Stage(environment, pool, store, receivers, merchants, redis, dns, {
        DATABASE_URL: url,
        MASTER_KEY: masterKey.toString('hex'),
        ...(redis === null ? {} : { QUEUE_URL: redis.url }),
        ...env,
      });
    } catch (error) {
      dns?.stop();
      await redis?.stop();
      await receivers?.stop();
      await environment.close();
      throw error;
    }
  }

  worker(name: string): Worker {
    return new Worker(this.environment, name, this.workerEnv, this.dns);
  }

  async close(): Promise<void> {
    await this.environment.children.stopAll();
    await this.store.close();
    this.dns?.stop();
    await this.redis?.stop();
    await this.receivers.stop();
    await this.environment.close();
  }
}

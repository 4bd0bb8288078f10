import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { BenchEnvironment } from '../../../../bench/support/environment.js';
import { spawnService } from '../../../../bench/support/service.js';
import { MIGRATIONS } from '../../../../src/composition.js';
import { AuthenticEventStore } from '../../../../src/platform/event-store/authentic-event-store.js';
import type { EventStore } from '../../../../src/platform/event-store/port.js';
import { PostgresEventStore } from '../../../../src/platform/event-store/postgres/postgres-event-store.js';
import { migrate } from '../../../../src/platform/postgres/migrate.js';
import { ringOf } from '../../../support/key-ring.js';
import { TestRedis } from '../../../support/programs/redis.js';
import { ServiceProcess } from '../service-process.js';
import { DeadDns } from './dead-dns.js';
import { Merchants } from './merchants.js';
import { Receivers, type Behavior } from './receivers.js';

const DATABASE = 'chaos';

export interface DeliveryHarnessOptions {
  readonly endpoints: number;
  /** `deadNames`: whether names can be had whose DNS servers never respond. */
  readonly behaviorOf: (place: number, deadNames: boolean) => Behavior;
  readonly queue: 'postgres' | 'redis';
  /** Settings of the workers. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * What the suites about deliveries run on: a PostgreSQL and a dev chain of their own, receivers, merchants with
 * registered endpoints, and workers of the real build.
 */
export class DeliveryHarness {
  private constructor(
    private readonly environment: BenchEnvironment,
    readonly pool: pg.Pool,
    private readonly store: EventStore,
    readonly receivers: Receivers,
    readonly merchants: Merchants,
    readonly redis: TestRedis | null,
    readonly dns: DeadDns | null,
    private readonly workerEnv: Readonly<Record<string, string>>,
  ) {}

  static async open({ endpoints, behaviorOf, queue, env }: DeliveryHarnessOptions): Promise<DeliveryHarness> {
    const environment = await BenchEnvironment.start();
    let receivers: Receivers | null = null;
    let redis: TestRedis | null = null;
    const dns = await DeadDns.start(environment.folder('dns'));
    try {
      const url = await environment.database(DATABASE);
      // The workers find the database migrated.
      await migrate(url, MIGRATIONS);
      const pool = await environment.pool(DATABASE);
      const masterKey = randomBytes(32);
      const sealer = await ringOf(url, masterKey);
      const store = new AuthenticEventStore(new PostgresEventStore(pool), sealer);
      const listening = (receivers = await Receivers.start());
      redis = queue === 'redis' ? await TestRedis.start(environment.folder('redis')) : null;
      if (queue === 'redis' && redis === null) throw new Error('--queue redis needs redis-server');
      const merchants = await Merchants.register({
        store,
        sealer,
        endpoints,
        behaviorOf: (place) => behaviorOf(place, dns !== null),
        urlOf: (place, behavior) =>
          listening.urlOf(place, behavior === 'unresolved' ? `dead-${place}.example` : undefined),
      });
      receivers.introduce(merchants.hooks);
      return new DeliveryHarness(environment, pool, store, receivers, merchants, redis, dns, {
        ROLES: 'worker',
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

  worker(name: string): ServiceProcess {
    const { dns } = this;
    return new ServiceProcess(name, (more) =>
      spawnService(this.environment, {
        name,
        database: DATABASE,
        env: { ...this.workerEnv, ...more },
        ...(dns === null ? {} : { wrap: (argv) => dns.wrapped(argv) }),
      }),
    );
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

import type pg from 'pg';
import { MIGRATIONS } from '../../../../src/composition.js';
import { AuthenticEventStore } from '../../../../src/platform/event-store/authentic-event-store.js';
import { PostgresEventStore } from '../../../../src/platform/event-store/postgres/postgres-event-store.js';
import { migrate } from '../../../../src/platform/postgres/migrate.js';
import { ringOf } from '../../../support/key-ring.js';
import { TestRedis } from '../../../support/programs/redis.js';
import type { ServiceProcess } from '../../../../bench/support/service.js';
import type { Shared } from '../shared.js';
import { seconds } from '../suite.js';
import type { Verdict } from '../verdict.js';
import { Merchants } from './merchants.js';
import { Receivers, type Behavior } from './receivers.js';

/** Deliveries in flight at SIGTERM are requeued after ten seconds. */
const EXIT_MS = 35_000;

interface DeliveryHarnessOptions {
  readonly endpoints: number;
  readonly behaviorOf: (place: number) => Behavior;
  readonly queue: 'postgres' | 'redis';
  readonly env: Readonly<Record<string, string>>;
}

/** Receivers, merchants with registered endpoints, and workers of the real build. */
export class DeliveryHarness {
  readonly pool: pg.Pool;

  private constructor(
    private readonly shared: Shared,
    readonly receivers: Receivers,
    readonly merchants: Merchants,
    readonly redis: TestRedis | null,
    private readonly workerEnv: Readonly<Record<string, string>>,
  ) {
    this.pool = shared.pool;
  }

  static async open(
    shared: Shared,
    { endpoints, behaviorOf, queue, env }: DeliveryHarnessOptions,
  ): Promise<DeliveryHarness> {
    const { databaseUrl, environment, ends } = shared;
    const receivers = await ends.start(Receivers.start());
    const redis = queue === 'redis' ? await TestRedis.start(environment.folder('redis')) : null;
    if (queue === 'redis' && redis === null) throw new Error('--queue redis needs redis-server');
    ends.add(() => redis?.stop());
    // Workers end before their receivers and their queue.
    ends.add(() => environment.children.stopAll());
    await migrate(databaseUrl, MIGRATIONS);
    const sealer = await ringOf(databaseUrl, Buffer.from(shared.masterKey, 'hex'));
    const merchants = await Merchants.register({
      store: new AuthenticEventStore(new PostgresEventStore(shared.pool), sealer),
      sealer,
      endpoints,
      behaviorOf,
      urlOf: (place) => receivers.urlOf(place),
    });
    receivers.introduce(merchants.hooks);
    const workerEnv = { ...(redis !== null && { QUEUE_URL: redis.url }), ...env };
    return new DeliveryHarness(shared, receivers, merchants, redis, workerEnv);
  }

  worker(name: string): ServiceProcess {
    return this.shared.process(name, { ...this.workerEnv, ROLES: 'worker' });
  }

  /** Sends SIGTERM, also while deliveries hang. The workers end in time and release their deliveries. */
  async terminate(workers: readonly ServiceProcess[], verdict: Verdict): Promise<string> {
    const began = performance.now();
    const ends = await Promise.all(workers.map((each) => each.stop()));
    const tookMs = performance.now() - began;
    verdict.none('SIGTERM does not end a worker', ends, (end) => end !== 'exit code 0');
    verdict.expect(tookMs < EXIT_MS, 'SIGTERM ends a worker within 35 s', tookMs);
    const { rows } = await this.pool.query('select from webhooks.deliveries where leased_by is not null');
    verdict.equal(rows.length, 0, 'deliveries held after SIGTERM');
    return seconds(tookMs);
  }
}

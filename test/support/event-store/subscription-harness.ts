import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, jest } from '@jest/globals';
import type { PoolClient } from 'pg';
import { AuthenticEventStore } from '../../../src/platform/event-store/authentic-event-store.js';
import { EventCodec } from '../../../src/platform/event-store/event-codec.js';
import type { EventStore, RecordedEvent } from '../../../src/platform/event-store/port.js';
import { PostgresEventStore } from '../../../src/platform/event-store/postgres/postgres-event-store.js';
import type { SubscriptionDefinition } from '../../../src/platform/projections/projection.js';
import { Checkpoints } from '../../../src/platform/projections/checkpoints.js';
import { PassingTypes } from '../../../src/platform/projections/passing-types.js';
import { ReadModelRebuild } from '../../../src/platform/projections/read-model-rebuild.js';
import { SubscriptionLag } from '../../../src/platform/projections/subscription-lag.js';
import { SubscriptionRegistry } from '../../../src/platform/projections/subscription-registry.js';
import { SubscriptionRunner } from '../../../src/platform/projections/subscription-runner.js';
import { SubscriptionProgress } from '../../../src/platform/projections/subscription-progress.js';
import { Sealer } from '../../../src/platform/sealing/sealer.js';
import { newId } from '../../../src/kernel/ids.js';
import { WAIT_MS } from '../eventually.js';
import { testDatabase, type TestDatabase } from '../postgres.js';
import { storeConfig } from '../../../src/platform/config/config.js';

export const RELEVANT = 'thing.relevant.v1';
export const OTHER = 'thing.other.v1';
/** A later version, which only some processes support. */
export const NEWER = 'thing.relevant.v2';

/** The parts of one process that run subscriptions. */
interface SubscriptionProcess {
  readonly checkpoints: Checkpoints;
  readonly passing: PassingTypes;
  readonly progress: SubscriptionProgress;
  readonly runner: SubscriptionRunner;
  readonly rebuild: ReadModelRebuild;
  /** Measures the lag `ms` later. */
  lagAfter(ms: number): SubscriptionLag;
}

/** One database with a read model `seen` in which no event may come twice, and any number of processes. */
export class SubscriptionHarness {
  /** The subscription under test, which `begin` creates for each test. */
  name = '';
  private count = 0;
  private readonly running: SubscriptionRunner[] = [];

  private constructor(
    readonly database: TestDatabase,
    readonly writer: EventStore,
    readonly sealer: Sealer,
  ) {}

  static async open(): Promise<SubscriptionHarness> {
    const database = await testDatabase({ poolSize: 24 });
    await database.pool.query(
      'create table seen (name text, id uuid, n int, place bigint generated always as identity, primary key (name, id))',
    );
    const sealer = new Sealer(randomBytes(32));
    const writer = new AuthenticEventStore(new PostgresEventStore(database.pool), sealer);
    return new SubscriptionHarness(database, writer, sealer);
  }

  /** Creates a subscription at the end of the log, so that events of other tests do not count. */
  async begin(): Promise<void> {
    this.count += 1;
    this.name = `spec.${this.count}`;
    const { database, pool } = this.database;
    await new Checkpoints(database).set(this.name, await this.writer.head(), pool);
  }

  async end(): Promise<void> {
    await Promise.all(this.running.splice(0).map((runner) => runner.stop()));
  }

  /** A process that supports RELEVANT, OTHER and the types of its definitions. */
  process(...definitions: readonly SubscriptionDefinition[]): SubscriptionProcess {
    const store = new AuthenticEventStore(new PostgresEventStore(this.database.pool), this.sealer);
    return this.processOver(store, WAIT_MS, definitions);
  }

  processOver(
    store: EventStore,
    readYourWritesMs: number,
    definitions: readonly SubscriptionDefinition[],
  ): SubscriptionProcess {
    const checkpoints = new Checkpoints(this.database.database);
    const registry = new SubscriptionRegistry();
    registry.register(...definitions);
    const codec = new EventCodec().register([{ type: RELEVANT }, { type: OTHER }]);
    const passing = new PassingTypes(this.database.database);
    const config = { ...storeConfig({ ROLES: 'worker' }), readYourWritesMs };
    const progress = new SubscriptionProgress(checkpoints, registry, codec, store, config);
    const runner = new SubscriptionRunner(registry, checkpoints, codec, progress, store, config, passing);
    this.running.push(runner);
    return {
      checkpoints,
      passing,
      progress,
      runner,
      rebuild: new ReadModelRebuild(registry, checkpoints, codec, store, this.database.database, passing),
      lagAfter: (ms) =>
        new SubscriptionLag(registry, checkpoints, store, { now: () => new Date(Date.now() + ms) }),
    };
  }

  /** A definition that fails on a repeated event, so that repeats are not hidden. */
  view(extra: Partial<SubscriptionDefinition> = {}): SubscriptionDefinition {
    return { name: this.name, events: [RELEVANT], apply: (...args) => this.insert(...args), ...extra };
  }

  async insert(events: readonly RecordedEvent[], tx: PoolClient, schema = 'public'): Promise<void> {
    await tx.query(
      `insert into ${schema}.seen (name, id, n) select $1, * from unnest($2::uuid[], $3::int[])`,
      [this.name, events.map(({ id }) => id), events.map(({ data }) => Number(data['n']))],
    );
  }

  /** Writes events numbered from `from`. Returns the position of the last. */
  async write(count: number, type = RELEVANT, from = 0): Promise<string> {
    const events = Array.from({ length: count }, (_, n) => {
      return { id: newId(), type, data: { n: from + n }, metadata: {} };
    });
    const append = { stream: `thing-${newId()}`, events, expected: 'no_stream' as const };
    const result = await this.writer.commit({ appends: [append] });
    if (result.outcome !== 'committed') throw new Error(result.outcome);
    return result.position!;
  }

  /** Returns the numbers of the events in the read model, in order of application. */
  async applied(): Promise<number[]> {
    const { rows } = await this.database.pool.query<{ n: number }>(
      'select n from seen where name = $1 order by place',
      [this.name],
    );
    return rows.map(({ n }) => n);
  }
}

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** One harness for a suite, with a subscription per test. `cleanup` is SQL that runs after each test. */
export function withSubscriptions(use: (harness: SubscriptionHarness) => void, cleanup?: string): void {
  let harness: SubscriptionHarness;
  beforeAll(async () => use((harness = await SubscriptionHarness.open())));
  beforeEach(() => harness.begin());
  afterEach(async () => {
    await harness.end();
    if (cleanup !== undefined) await harness.database.pool.query(cleanup);
    jest.restoreAllMocks();
  });
  afterAll(() => harness.database.drop());
}

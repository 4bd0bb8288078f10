import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { testDatabase, type TestDatabase } from '../../../test/support/postgres.js';
import { newId } from '../../kernel/ids.js';
import { EventCodec } from '../event-codec.js';
import { EventRegistry } from '../event-registry.js';
import type { RecordedEvent } from '../port.js';
import { PostgresEventStore } from '../postgres/postgres-event-store.js';
import type { SubscriptionDefinition } from '../projection.js';
import { Checkpoints } from './checkpoints.js';
import { ReadModelRebuild } from './read-model-rebuild.js';
import { SubscriptionLag } from './subscription-lag.js';
import { SubscriptionRegistry } from './subscription-registry.js';
import { SubscriptionRunner } from './subscription-runner.js';
import { ViewProgress } from './view-progress.js';

const WANTED = 'thing.wanted.v1';
const OTHER = 'thing.other.v1';
const READ_YOUR_WRITES_MS = 5000;

describe('the subscription runner', () => {
  let database: TestDatabase;
  let writer: PostgresEventStore;
  let names = 0;
  let name: string;
  const running: SubscriptionRunner[] = [];

  beforeAll(async () => {
    database = await testDatabase({ poolSize: 24 });
    writer = new PostgresEventStore(database.pool);
    await database.pool.query(
      'create table seen (name text, id uuid, n int, place bigserial, primary key (name, id))',
    );
  });

  beforeEach(() => {
    names += 1;
    name = `spec.${names}`;
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((runner) => runner.stop()));
    jest.restoreAllMocks();
  });

  afterAll(async () => {
    await database.drop();
  });

  /** Everything that one process holds. */
  function processWith(...definitions: readonly SubscriptionDefinition[]) {
    const store = new PostgresEventStore(database.pool);
    const checkpoints = new Checkpoints(database.database);
    const registry = new SubscriptionRegistry();
    registry.register(...definitions);
    const codec = new EventCodec(new EventRegistry(), {
      obtain: async () => null,
      find: async () => new Map(),
    });
    const config = { roles: ['worker' as const], readYourWritesMs: READ_YOUR_WRITES_MS };
    const progress = new ViewProgress(checkpoints, config);
    const runner = new SubscriptionRunner(registry, checkpoints, codec, progress, store, config);
    const rebuild = new ReadModelRebuild(registry, checkpoints, codec, store);
    const lag = new SubscriptionLag(registry, checkpoints, store, { now: () => new Date() });
    running.push(runner);
    return { store, checkpoints, progress, runner, rebuild, lag };
  }

  async function insert(events: readonly RecordedEvent[], tx: PoolClient): Promise<void> {
    await tx.query('insert into seen (name, id, n) select $1, * from unnest($2::uuid[], $3::int[])', [
      name,
      events.map(({ id }) => id),
      events.map(({ data }) => Number(data['n'])),
    ]);
  }

  /** A definition that fails when it sees an event twice, so that nothing hides behind forgiveness. */
  function view(extra: Partial<SubscriptionDefinition> = {}): SubscriptionDefinition {
    return { name, events: [WANTED], apply: insert, ...extra };
  }

  async function write(count: number, type = WANTED, from = 0): Promise<string> {
    const events = Array.from({ length: count }, (_, n) => ({
      id: newId(),
      type,
      data: { n: from + n },
      metadata: {},
    }));
    const result = await writer.commit({
      appends: [{ stream: `thing-${newId()}`, events, expected: 'no_stream' }],
    });
    if (result.outcome !== 'committed') throw new Error(result.outcome);
    return result.position!;
  }

  async function applied(of = name): Promise<number[]> {
    const { rows } = await database.pool.query<{ n: number }>(
      'select n from seen where name = $1 order by place',
      [of],
    );
    return rows.map(({ n }) => n);
  }

  const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

  /** Starts where the log ends now, so that events of other specs do not count. */
  async function fromHere(): Promise<void> {
    const checkpoints = new Checkpoints(database.database);
    await checkpoints.replace(name, async () => writer.head());
  }

  it('applies what was written before and after it started, in order, and nothing else', async () => {
    await fromHere();
    await write(30);
    const woken: number[] = [];
    const { runner, progress } = processWith(
      view({ afterCommit: (events) => void woken.push(events.length) }),
    );
    runner.start();
    await write(5, OTHER);
    const position = await write(20, WANTED, 30);
    expect(await progress.reached(name, position)).toBe(true);
    expect(await applied()).toEqual(upTo(50));
    expect(woken.reduce((sum, n) => sum + n, 0)).toBe(50);
  });

  it('goes on from the checkpoint in the next process', async () => {
    await fromHere();
    const first = processWith(view());
    first.runner.start();
    expect(await first.progress.reached(name, await write(3))).toBe(true);
    await first.runner.stop();
    const position = await write(3, WANTED, 3);
    const second = processWith(view());
    second.runner.start();
    expect(await second.progress.reached(name, position)).toBe(true);
    expect(await applied()).toEqual(upTo(6));
  });

  it('applies a batch once when it is killed between its rows and its checkpoint', async () => {
    await fromHere();
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    let kills = 0;
    const dying = view({
      apply: async (events, tx) => {
        await insert(events, tx);
        kills += 1;
        if (kills > 2) return;
        const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
        await database.pool.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
      },
    });
    const { runner, progress } = processWith(dying);
    const position = await write(10);
    runner.start();
    expect(await progress.reached(name, position)).toBe(true);
    expect(kills).toBe(3);
    expect(await applied()).toEqual(upTo(10));
  });

  it('applies each event once and in order when three processes run it at the same time', async () => {
    await fromHere();
    const processes = [processWith(view()), processWith(view()), processWith(view())];
    for (const { runner } of processes) runner.start();
    let position = '';
    for (let n = 0; n < 150; n += 1) {
      position = await write(1, WANTED, n);
      if (n % 3 === 0) await write(1, OTHER);
    }
    for (const { progress } of processes) expect(await progress.reached(name, position)).toBe(true);
    expect(await applied()).toEqual(upTo(150));
  });

  it('stops at an event that cannot be applied, names it, lets the others go on, and never skips it', async () => {
    await fromHere();
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    let broken = true;
    const picky = view({
      apply: async (events, tx) => {
        if (broken && events.some(({ data }) => data['n'] === 37)) throw new Error('37 again');
        await insert(events, tx);
      },
    });
    const healthy = { ...view(), name: `${name}.healthy`, apply: async () => undefined };
    const { runner, progress } = processWith(picky, healthy);
    const position = await write(60);
    runner.start();
    expect(await progress.reached(healthy.name, position)).toBe(true);
    while (errors.mock.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await applied()).toEqual(upTo(37));
    expect(errors.mock.calls[0]![0]).toMatchObject({ subscription: name, type: WANTED });
    expect(runner.states().find((state) => state.name === name)).toMatchObject({
      oldestPending: expect.any(Date),
      failures: expect.any(Number),
    });
    broken = false;
    expect(await progress.reached(name, position)).toBe(true);
    expect(await applied()).toEqual(upTo(60));
  });

  it('moves the stored checkpoint past events that nobody wants, in its own time', async () => {
    await fromHere();
    const { runner, checkpoints, lag } = processWith(view());
    runner.start();
    const position = await write(3, OTHER);
    const stored = async () => (await checkpoints.read([name])).get(name);
    while ((await stored()) !== position) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await applied()).toEqual([]);
    expect(await lag.of(name)).toBe(0);
  });

  it('finishes the batch in hand when it stops', async () => {
    await fromHere();
    let begun = (): void => undefined;
    const started = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const slow = view({
      apply: async (events, tx) => {
        begun();
        await tx.query('select pg_sleep(0.2)');
        await insert(events, tx);
      },
    });
    const { runner } = processWith(slow);
    runner.start();
    await write(4);
    await started;
    await runner.stop();
    expect(await applied()).toHaveLength(4);
  });

  describe('read your own writes', () => {
    it('waits for the runner of another process', async () => {
      await fromHere();
      const worker = processWith(view());
      worker.runner.start();
      const api = processWith();
      expect(await api.progress.reached(name, await write(1))).toBe(true);
      expect(await applied()).toEqual([0]);
    });

    it('gives up after its bound, and has nothing to wait for when nothing was written', async () => {
      await fromHere();
      const checkpoints = new Checkpoints(database.database);
      const progress = new ViewProgress(checkpoints, { readYourWritesMs: 30 });
      expect(await progress.reached(name, await write(1))).toBe(false);
      expect(await progress.reached(name, null)).toBe(true);
    });
  });

  describe('lag', () => {
    it('is the age of the oldest event behind which the checkpoint stays, in any process', async () => {
      await fromHere();
      await write(2);
      const registry = new SubscriptionRegistry();
      registry.register(view());
      const later = { now: () => new Date(Date.now() + 60_000) };
      const lag = new SubscriptionLag(registry, new Checkpoints(database.database), writer, later);
      expect(await lag.of(name)).toBeGreaterThan(50_000);
      const { runner, progress } = processWith(view());
      runner.start();
      expect(await progress.reached(name, await writer.head())).toBe(true);
      expect(
        await new SubscriptionLag(registry, new Checkpoints(database.database), writer, later).of(name),
      ).toBe(0);
    });
  });

  describe('rebuild', () => {
    const reset = async (tx: PoolClient): Promise<void> => {
      await tx.query('delete from seen where name = $1', [name]);
    };

    it('replays everything while readers see the old rows, and the runner goes on behind it', async () => {
      const { rebuild, runner, progress } = processWith(view({ reset }));
      runner.start();
      expect(await progress.reached(name, await write(2))).toBe(true);
      const before = await applied();
      const seenMeanwhile: number[][] = [];
      const watching = view({
        reset,
        apply: async (events, tx) => {
          seenMeanwhile.push(await applied());
          await insert(events, tx);
        },
      });
      const operator = processWith(watching);
      const rebuilt = await operator.rebuild.rebuild(name);
      expect(rebuilt.events).toBe(before.length);
      expect(await applied()).toEqual(before);
      expect(seenMeanwhile).not.toHaveLength(0);
      for (const rows of seenMeanwhile) expect(rows).toEqual(before);
      expect(await progress.reached(name, await write(1, WANTED, 99))).toBe(true);
      expect((await applied()).at(-1)).toBe(99);
      expect(rebuild.names()).toEqual([name]);
    });

    it('uses the fast way of a definition that has one', async () => {
      let total = 0;
      const counting = view({
        rebuild: async (history) => {
          for await (const events of history) total += events.length;
        },
      });
      const { rebuild } = processWith(counting);
      const rebuilt = await rebuild.rebuild(name);
      expect(rebuilt).toMatchObject({ events: total, position: await writer.head() });
      expect(total).toBeGreaterThan(100);
    });

    it('refuses sagas and unknown names', async () => {
      const { rebuild } = processWith(view());
      await expect(rebuild.rebuild(name)).rejects.toThrow('no read model');
      await expect(rebuild.rebuild('unknown')).rejects.toThrow('no subscription unknown');
    });
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PERSONAL_KEYS } from '../../../src/contexts/audit/verify/personal-keys-check.store.js';
import { storeSource, verify } from '../../../src/contexts/audit/verify/verify.service.js';
import type { TableCheck } from '../../../src/platform/projections/table-check.js';
import { liveTables } from '../../../src/contexts/audit/verify/audited-tables.store.js';
import { ALL_CONTEXTS, MIGRATIONS, readConfig } from '../../../src/composition.js';
import { knownEvents } from '../../../src/platform/context.js';
import { EventCodec } from '../../../src/platform/event-store/event-codec.js';
import type { EventStore } from '../../../src/platform/event-store/port.js';
import { PostgresEventStore } from '../../../src/platform/event-store/postgres/postgres-event-store.js';
import { payoutViews } from '../../../src/contexts/payouts/payouts/payouts-projection.view.js';
import { PassingTypes } from '../../../src/platform/projections/passing-types.js';
import { Checkpoints } from '../../../src/platform/projections/checkpoints.js';
import { ReadModelRebuild, type Rebuilt } from '../../../src/platform/projections/read-model-rebuild.js';
import { SubscriptionRegistry } from '../../../src/platform/projections/subscription-registry.js';
import { SubscriptionRunner } from '../../../src/platform/projections/subscription-runner.js';
import { SubscriptionProgress } from '../../../src/platform/projections/subscription-progress.js';
import { newId } from '../../../src/kernel/ids.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';
import { stored, TRUSTING } from '../../support/audit/signed-log.js';
import { Gate } from './gate.js';
import { VIEWS } from '../../support/event-store/read-models.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { storeConfig, processConfig } from '../../../src/platform/config/config.js';

/** The bound of a read, after which a reader counts as locked out. */
const OUTAGE_MS = WAIT_MS / 2;
describe.each(VIEWS)('a rebuild of $definition.name', ({ definition, tables, facts, count }) => {
  const { name } = definition;
  let db: TestDatabase;
  let store: PostgresEventStore;
  let reader: pg.Client;
  let worker: SubscriptionRunner;
  let progress: SubscriptionProgress;
  let gate: Gate;

  beforeAll(async () => {
    db = await testDatabase({ poolSize: 12 });
    store = new PostgresEventStore(db.pool);
    reader = new pg.Client({ connectionString: db.url, statement_timeout: OUTAGE_MS });
    await reader.connect();
    gate = new Gate();
    const { registry, checkpoints, codec } = parts();
    progress = new SubscriptionProgress(checkpoints, registry, codec, store, {
      ...storeConfig({}),
      readYourWritesMs: 20_000,
    });
    worker = new SubscriptionRunner(
      registry,
      checkpoints,
      codec,
      progress,
      store,
      processConfig({ ROLES: 'worker' }),
      new PassingTypes(db.database),
    );
    worker.start();
    await write(20);
  });
  afterEach(() => gate.open());
  afterAll(async () => {
    await worker.stop();
    await reader.end();
    await store.close();
    await db.drop();
  });

  function parts(): { registry: SubscriptionRegistry; checkpoints: Checkpoints; codec: EventCodec } {
    const registry = new SubscriptionRegistry();
    registry.register(definition);
    return {
      registry,
      checkpoints: new Checkpoints(db.database),
      codec: new EventCodec().register(knownEvents(ALL_CONTEXTS)),
    };
  }

  /** An event store whose reads pass the gate. */
  const gated = (by: Gate): EventStore =>
    Object.assign(Object.create(store) as EventStore, {
      readAll: async (after: string | null, limit: number) => {
        await by.passed();
        return store.readAll(after, limit);
      },
    });

  /** Rebuilds like an operator's program. Reads of the event store pass the gate. */
  function rebuild(print?: (line: string) => void): Promise<Rebuilt> {
    const { registry, checkpoints, codec } = parts();
    const rebuilding = new ReadModelRebuild(
      registry,
      checkpoints,
      codec,
      gated(gate),
      db.database,
      new PassingTypes(db.database),
    ).rebuild(name, print);
    // A later await throws it. Until then it must not be an unhandled rejection.
    rebuilding.catch(() => undefined);
    return rebuilding;
  }

  /** Adds facts and resolves once readers have them. */
  async function write(n: number): Promise<void> {
    const appends = Array.from({ length: n }, () => {
      const events = facts().map(([type, data]) => ({ id: newId(), type, data, metadata: {} }));
      return { stream: `thing-${newId()}`, events, expected: 'no_stream' as const };
    });
    const result = await store.commit({ appends });
    if (result.outcome !== 'committed') throw new Error(result.outcome);
    expect(await progress.waitFor(name, result.position)).toBe(true);
  }

  async function seen(): Promise<number> {
    return (await reader.query<{ n: number }>(count)).rows[0]!.n;
  }

  /** Reads until `done`. Fails if a read has fewer rows than before or is too slow. */
  async function watch(done: Promise<unknown>): Promise<void> {
    let over = false;
    void done.catch(() => undefined).then(() => (over = true));
    for (let before = await seen(); !over; await sleep(1)) {
      const now = await seen();
      expect(now).toBeGreaterThanOrEqual(before);
      before = now;
    }
  }

  it('readers see all rows during a rebuild, even rows written meanwhile', async () => {
    const before = await seen();
    gate.shut();
    const rebuilding = rebuild();
    await gate.reached;
    expect(await seen()).toBe(before);
    await write(1);
    expect(await seen()).toBe(before + 1);
    gate.open();
    const writing = (async () => {
      for (let n = 0; n < 20; n += 1) await write(5);
    })();
    await watch(Promise.all([rebuilding, writing]));
    await Promise.all([rebuilding, writing]);
    expect(await seen()).toBe(before + 101);
    await write(1);
    expect(await seen()).toBe(before + 102);
  });

  it('a rebuild restores a deleted row', async () => {
    const before = await seen();
    const [table] = tables;
    await db.pool.query(`delete from ${table} where ctid = (select min(ctid) from ${table})`);
    expect(await seen()).toBeLessThan(before);
    await rebuild();
    expect(await seen()).toBe(before);
  });

  // This behaviour is the same for every read model.
  if (definition === payoutViews) {
    it('a rebuild waits for a long reader such as pg_dump without blocking other readers', async () => {
      const before = await seen();
      const dump = new pg.Client({ connectionString: db.url });
      await dump.connect();
      await dump.query(`begin; lock table ${tables.join(', ')} in access share mode`);
      const lines: string[] = [];
      const rebuilding = rebuild((line) => lines.push(line));
      try {
        // The rebuild waits for the tables, with several readers behind it.
        await watch(lockRequested(tables, db.pool));
        for (let n = 0; n < 5; n += 1) await write(1);
        expect(await seen()).toBe(before + 5);
      } finally {
        await dump.query('commit');
        await dump.end();
      }
      await rebuilding;
      expect(await seen()).toBe(before + 5);
    });

    it('a rebuild that dies half-way leaves nothing behind and can run again', async () => {
      const before = await seen();
      gate.shut();
      const dying = rebuild();
      await gate.reached;
      await eventually(async () => {
        const { rowCount } = await db.pool.query(
          `select pg_terminate_backend(pid, 60000) from pg_stat_activity
           where datname = current_database() and state = 'idle in transaction'`,
        );
        return rowCount === 1;
      });
      gate.open();
      await expect(dying).rejects.toThrow();
      expect(await seen()).toBe(before);
      const { events } = await rebuild();
      expect(events).toBeGreaterThanOrEqual(before);
      expect(await seen()).toBe(before);
      const schemas = await db.pool.query(`select from pg_namespace where nspname like 'rebuilt%'`);
      expect(schemas.rowCount).toBe(0);
    });

    it('a second rebuild of one read model at the same time is refused', async () => {
      const before = await seen();
      gate.shut();
      const first = rebuild();
      await gate.reached;
      await expect(rebuild()).rejects.toThrow(`A rebuild of ${name} is running already`);
      gate.open();
      await first;
      expect(await seen()).toBe(before);
    });

    it('a rebuild does not block an audit, which reads tables and events of one snapshot', async () => {
      const slow = new Gate();
      slow.shut();
      const source = await storeSource(gated(slow));
      const proof = { pinned: true, hasMasterKey: true };
      const ledger = { state: null, leaves: async () => [], heads: stored([]), trust: TRUSTING };
      const rules = { contexts: ALL_CONTEXTS, token: null, ledger, progress: () => undefined, ...proof };
      const config = () => readConfig({ DATABASE_URL: db.url });
      const parts = { contexts: ALL_CONTEXTS, migrations: MIGRATIONS, config };
      // The events of this suite have no personal keys.
      const others = (checks: readonly TableCheck[]) => checks.filter(({ name }) => name !== PERSONAL_KEYS);
      const auditing = liveTables(db.database, parts, null, (live) =>
        verify(source, { ...live, checks: others(live.checks) }, rules),
      );
      await slow.reached;
      const rebuilding = rebuild();
      await Promise.race([lockRequested(tables, db.pool), rebuilding]);
      slow.open();
      expect(await auditing).toMatchObject({
        differences: [],
        books: { payouts: { pending: await seen() } },
      });
      await rebuilding;
    });
  }

  it('a rebuild retains columns, indexes, constraints, options, comments and grants', async () => {
    const shape = (): Promise<object[]> =>
      db.database.query(
        `select c.oid::regclass::text, c.reloptions, pg_get_indexdef(c.oid) as index, obj_description(c.oid),
                array(select acl::text from unnest(c.relacl) acl order by 1) as grants,
                array(select pg_get_constraintdef(oid) from pg_constraint
                      where conrelid = c.oid order by 1) as constraints,
                array(select concat_ws(' ', attname, attstorage, attnotnull, col_description(c.oid, attnum))
                      from pg_attribute where attrelid = c.oid and attnum > 0 order by attnum) as columns
         from pg_class c left join pg_index x on x.indexrelid = c.oid
         where coalesce(x.indrelid, c.oid) = any($1::text[]::regclass[]) order by 1`,
        [tables],
      );
    await db.pool.query(`grant select on ${tables.join(', ')} to public`);
    const before = await shape();
    expect(before.length).toBeGreaterThan(tables.length);
    await rebuild();
    expect(await shape()).toEqual(before);
  });
});

/** Resolves once a session waits for an exclusive lock of a table. */
async function lockRequested(tables: readonly string[], pool: pg.Pool): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(
      `select from pg_locks where mode = 'AccessExclusiveLock' and not granted and relation = any($1::text[]::regclass[])`,
      [tables],
    );
    if (rowCount! > 0) return;
    await sleep(1);
  }
}

import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { DisconnectableProxy } from '../../../../test/support/database/disconnectable-proxy.js';
import { eventually } from '../../../../test/support/eventually.js';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { newId } from '../../../kernel/ids.js';
import { outliveConnections } from '../../postgres/unavailable.js';
import { EventFeed } from '../../projections/event-feed.js';
import { EventStoreUnavailable, type Commit, type RecordedEvent } from '../port.js';
import { PostgresEventStore } from './postgres-event-store.js';

const TIMEOUT_MS = 1000;

describe('the PostgreSQL event store during an outage', () => {
  const test = onTestDatabase();
  let direct: PostgresEventStore;
  let proxy: DisconnectableProxy;
  let pool: pg.Pool;
  let store: PostgresEventStore;

  beforeAll(async () => {
    direct = new PostgresEventStore(test.pool);
  });

  beforeEach(async () => {
    proxy = new DisconnectableProxy(new URL(test.url));
    pool = new pg.Pool({ connectionString: await proxy.open(), max: 4, connectionTimeoutMillis: 1000 });
    outliveConnections(pool);
    store = new PostgresEventStore(pool, TIMEOUT_MS);
    await store.ping();
  });

  afterEach(async () => {
    await store.close();
    await proxy.close();
    await pool.end();
  });

  function someCommit(): Commit & { readonly stream: string } {
    const stream = `outage-${newId()}`;
    const events = [{ id: newId(), type: 'x.v1', data: {}, metadata: {} }];
    const response = { scope: 'm', key: newId(), fingerprint: 'f', status: 201, body: 'body' };
    return { stream, appends: [{ stream, events, expected: 'no_stream' }], response };
  }

  it('commits once if the response to the call is lost', async () => {
    const commits = Array.from({ length: 5 }, someCommit);
    await store.commit(someCommit());
    proxy.cutNextResponse = true;
    const results = await Promise.all(commits.map((commit) => store.commit(commit)));
    expect(proxy.cutNextResponse).toBe(false);
    for (const [n, { stream }] of commits.entries()) {
      const [event, ...more] = await direct.readStream(stream);
      expect(more).toEqual([]);
      expect(results[n]).toEqual({ outcome: 'committed', position: event!.position, revisions: [0] });
    }
  });

  it('commits once if the server ends its session while the commit waits for the lock', async () => {
    const commit = someCommit();
    const holder = await test.pool.connect();
    await holder.query('begin; select pg_advisory_xact_lock(7331002)');
    const committing = store.commit(commit);
    const waiting = `select pid from pg_locks where locktype = 'advisory' and not granted`;
    const { pid } = await eventually(async () => (await test.pool.query<{ pid: number }>(waiting)).rows[0]);
    await test.pool.query('select pg_terminate_backend($1)', [pid]);
    await holder.query('rollback');
    holder.release();
    expect(await committing).toMatchObject({ outcome: 'committed', revisions: [0] });
    expect(await direct.readStream(commit.stream)).toHaveLength(1);
  });

  it('is unavailable while the database is down, and works again afterwards', async () => {
    await proxy.close();
    await expect(store.commit(someCommit())).rejects.toThrow(EventStoreUnavailable);
    await expect(store.readStream('any')).rejects.toThrow(EventStoreUnavailable);
    await expect(store.ping()).rejects.toThrow(EventStoreUnavailable);
    await proxy.open();
    expect(await store.commit(someCommit())).toMatchObject({ outcome: 'committed' });
  });

  it('is unavailable while its address leads to a standby', async () => {
    const options = '-c default_transaction_read_only=on';
    const standby = new pg.Pool({ connectionString: test.url, max: 1, options });
    const onStandby = new PostgresEventStore(standby, TIMEOUT_MS);
    await expect(onStandby.commit(someCommit())).rejects.toThrow(EventStoreUnavailable);
    // No connection is retained: the address may lead to the primary by now.
    expect(standby.totalCount).toBe(0);
    await standby.end();
  });

  it('is unavailable while a session without a client holds the lock', async () => {
    const holder = await test.pool.connect();
    await holder.query('begin; select pg_advisory_xact_lock(7331002)');
    const waiting = new pg.Pool({ connectionString: test.url, options: '-c lock_timeout=800' });
    const commit = new PostgresEventStore(waiting, TIMEOUT_MS).commit(someCommit());
    await expect(commit).rejects.toThrow(EventStoreUnavailable);
    await holder.query('rollback');
    holder.release();
    await waiting.end();
  });

  it('is unavailable while the database accepts connections and never responds', async () => {
    const commit = someCommit();
    proxy.hangs = true;
    await Promise.all([
      expect(store.commit(commit)).rejects.toThrow(EventStoreUnavailable),
      expect(store.readStream('any')).rejects.toThrow(EventStoreUnavailable),
      expect(store.ping()).rejects.toThrow(EventStoreUnavailable),
    ]);
    proxy.hangs = false;
    expect(await store.commit(commit)).toMatchObject({ outcome: 'committed', revisions: [0] });
    expect(await direct.readStream(commit.stream)).toHaveLength(1);
  });

  it('returns all events to subscriptions after an outage', async () => {
    const feed = new EventFeed(store);
    const start = await direct.head();
    const seen: RecordedEvent[] = [];
    feed.start();
    const reading = (async () => {
      while (seen.length < 3) {
        const after = seen.at(-1)?.position ?? start;
        seen.push(...(await feed.after(after, 10, 1000).catch(() => [])));
      }
    })();
    const streams: string[] = [];
    for (const down of [false, true, false]) {
      const commit = someCommit();
      streams.push(commit.stream);
      if (down) await proxy.close();
      await direct.commit(commit);
      if (down) await proxy.open();
    }
    await reading;
    await feed.stop();
    expect(seen.map(({ stream }) => stream)).toEqual(streams);
  });
});

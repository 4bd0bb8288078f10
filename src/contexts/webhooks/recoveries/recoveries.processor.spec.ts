import { beforeEach, describe, expect, it } from '@jest/globals';
import { expectOrderedLocks } from '../../../../test/support/database/lock-order.js';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { insertDeliveries, insertEndpoint } from '../../../../test/support/webhooks/webhook-rows.js';
import { newId } from '../../../kernel/ids.js';
import type { Database } from '../../../platform/postgres/database.js';
import { WorkItems } from '../../../platform/jobs/work-items.js';
import { RECOVERY_CHUNK, RecoveriesProcessor } from './recoveries.processor.js';
import { insertRecoveries } from '../deliveries/saga-rows.store.js';

const SINCE = '2026-01-02T00:00:00Z';
const db = onTestDatabase();
let endpoint: string;
let woken: string[];

beforeEach(async () => {
  woken = [];
  await db.database.query('truncate webhooks.deliveries, webhooks.recoveries, work.items');
  endpoint = await insertEndpoint(db.database);
});

/** Performs the due work, as if a second had passed since the last time. */
async function run(database: Database = db.database): Promise<void> {
  await db.database.query('update work.items set due_at = now() where lease is null');
  const wake = (id: string): void => void woken.push(id);
  const { work } = new RecoveriesProcessor(new WorkItems(db.database), database, { wake });
  await work.options.run(new AbortController().signal);
}

/** Inserts finished or due deliveries, created three a second from `from`. */
const fill = (state: string, count: number, { from = SINCE, isTest = false, to = endpoint } = {}) =>
  insertDeliveries(db.database, to, count, {
    is_test: String(isTest),
    state: `'${state}'`,
    attempts: '11',
    created_at: `'${from}'::timestamptz + (n / 3) * interval '1 second'`,
    due_at: `'2026-01-02'`,
    finished_at: state === 'pending' ? 'null' : `'2026-01-03'`,
  });

async function request(of = endpoint): Promise<string> {
  const id = newId();
  const row = { recovery_id: id, endpoint_id: of, merchant_id: newId(), since: SINCE };
  await db.database.transaction((tx) => insertRecoveries([row], tx));
  return id;
}

async function recovery(id: string) {
  const [row] = await db.database.query<{ recovered: number; open: boolean }>(
    'select recovered, finished_at is null as open from webhooks.recoveries where recovery_id = $1',
    [id],
  );
  return row!;
}

async function count(condition: string): Promise<number> {
  const [row] = await db.database.query<{ n: number }>(
    `select count(*)::int as n from webhooks.deliveries where ${condition}`,
  );
  return row!.n;
}
const pending = () => count(`state = 'pending' and attempts_before = attempts and finished_at is null`);
/** Simulates a sender whose receiver refused the due deliveries. */
const failAgain = () =>
  db.database.query(
    `update webhooks.deliveries set state = 'exhausted', attempts = attempts + 1, finished_at = clock_timestamp()
     where state = 'pending'`,
  );

async function runs(id: string): Promise<number> {
  let count = 0;
  while ((await recovery(id)).open) {
    await run();
    await failAgain();
    expect((count += 1)).toBeLessThan(20);
  }
  return count;
}

describe('a recovery', () => {
  it('resends the dropped and exhausted deliveries created since the given time, and no others', async () => {
    await fill('dropped', 5);
    await fill('exhausted', 7);
    await fill('exhausted', 3, { isTest: true });
    await fill('succeeded', 3);
    await fill('dropped', 3, { from: '2026-01-01T23:59:58Z' });
    await fill('dropped', 3, { to: newId() });
    const id = await request();
    await run();
    expect(await recovery(id)).toEqual({ recovered: 12, open: false });
    expect(await pending()).toBe(12);
    expect(await count(`state = 'pending' and due_at > now() - interval '1 minute'`)).toBe(12);
    expect(woken).toEqual([endpoint]);
  });

  it('continues after a killed process and resends each delivery once, even if resends fail', async () => {
    const all = 2 * RECOVERY_CHUNK + 500;
    await fill('exhausted', all);
    const id = await request();
    await run();
    expect(await recovery(id)).toEqual({ recovered: RECOVERY_CHUNK, open: true });
    await failAgain();

    const killed = {
      query: db.database.query.bind(db.database),
      transaction: (work: Parameters<Database['transaction']>[0]) =>
        db.database.transaction(async (tx, began) => {
          await work(tx, began);
          throw new Error('killed');
        }),
    } as unknown as Database;
    await run(killed);
    expect(await recovery(id)).toEqual({ recovered: RECOVERY_CHUNK, open: true });

    expect(await runs(id)).toBe(2);
    expect(await recovery(id)).toEqual({ recovered: all, open: false });
    expect(await count('attempts <> 12')).toBe(0);
  });

  it('is performed once by two concurrent processes', async () => {
    const all = 3 * RECOVERY_CHUNK;
    await fill('dropped', all);
    const ids = [await request(), await request()];
    for (let round = 0; round < 9; round += 1) {
      await Promise.all([run(), run()]);
      await failAgain();
    }
    const ended = await Promise.all(ids.map(recovery));
    expect(ended.map((each) => each.open)).toEqual([false, false]);
    expect(ended[0]!.recovered + ended[1]!.recovered).toBe(all);
    expect(await count('attempts <> 12')).toBe(0);
  });

  it('locks deliveries in the order of their ids, as senders do', async () => {
    await fill('dropped', 50);
    await request();
    const rows = await db.database.query<{ delivery_id: string }>(
      'select delivery_id from webhooks.deliveries order by 1',
    );
    const ids = rows.map((row) => row.delivery_id);
    await expectOrderedLocks(db, ids, () => run());
    expect(await pending()).toBe(50);
  });

  it('waits while a whole chunk of deliveries is due', async () => {
    await fill('pending', RECOVERY_CHUNK);
    await fill('dropped', 1);
    const id = await request();
    await run();
    expect(await recovery(id)).toEqual({ recovered: 0, open: true });
    await db.database.query(`update webhooks.deliveries set state = 'succeeded' where state = 'pending'`);
    await run();
    expect(await recovery(id)).toEqual({ recovered: 1, open: false });
  });

  it('is performed even if another merchant has requested a hundred recoveries before', async () => {
    await fill('dropped', 1);
    const id = await request();
    for (let n = 0; n < 100; n += 1) {
      const key = await insertEndpoint(db.database);
      await db.database.query(
        `insert into work.items (kind, key, share, due_at) values ('webhooks.recovery', $1, 'slow', '2025-01-01')`,
        [key],
      );
    }
    await run();
    expect(await recovery(id)).toEqual({ recovered: 1, open: false });
  });

  it.each(['disabled', 'deleted'])(
    'ends without a change if the endpoint is %s meanwhile',
    async (status) => {
      await fill('dropped', 3);
      const id = await request();
      await db.database.query('update webhooks.endpoint_snapshots set status = $2 where endpoint_id = $1', [
        endpoint,
        status,
      ]);
      await run();
      expect(await recovery(id)).toEqual({ recovered: 0, open: false });
      expect(await count(`state = 'dropped'`)).toBe(3);
      expect(woken).toEqual([]);
    },
  );
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ORDER_ERASURE_FAILPOINTS } from '../../../src/contexts/exchange/failpoints.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { CLI, MAIN, runBuilt } from '../../support/erasure/killed.js';
import { dumpOf, openedOf, tracesOf } from '../../support/erasure/traces.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';
import { ADDRESS, orderIn } from '../../support/exchange/exchange-orders.js';
import { expectInOrder } from '../../support/in-order.js';

interface Order {
  readonly id: string;
  readonly user_id: string;
}

let app: TestApp;
const orders: Order[] = [];

beforeAll(async () => {
  app = await startTestApp();
  const client = app.exchange.open;
  while (orders.length < ORDER_ERASURE_FAILPOINTS.length) {
    const user_id = `payer-${randomUUID()}`;
    const query = { pair_id: 'USDCSOL', withdraw_address: ADDRESS, user_id };
    const { id } = orderIn(await client.order(query, randomUUID()), 201);
    await client.act(id, 'cancel', ADDRESS);
    orders.push({ id, user_id });
  }
  // From here on the workers are processes of their own.
  await app.stop();
});
afterAll(async () => {
  await expectInOrder(app.config.databaseUrl!);
  await app.close();
});

async function found(user_ids: readonly string[]): Promise<string[]> {
  const dump = await dumpOf(app.database);
  const opened = await openedOf(dump, app.database, app.config.masterKey!);
  return tracesOf([...dump, ...opened], Object.fromEntries(user_ids.entries()));
}

it(
  'an erasure of orders whose process is killed at any of its points is completed by the next worker',
  async () => {
    for (const [n, point] of ORDER_ERASURE_FAILPOINTS.entries()) {
      const args = ['exchange', 'erase', '--order', orders[n]!.id, '--by', 'grace', '--yes'];
      if (point === 'order.erasure_recorded') {
        expect(await runBuilt(app, CLI, { FAILPOINT: point }, ...args).ended).toBe('SIGKILL');
        expect(await found([orders[n]!.user_id])).toContain('sealed in event_store.events: 0');
        continue;
      }
      expect(await runBuilt(app, CLI, {}, ...args).ended).toBe(0);
      expect([point, await runBuilt(app, MAIN, { FAILPOINT: point }).ended]).toEqual([point, 'SIGKILL']);
    }
    const last = runBuilt(app, MAIN, {});
    await eventually(async () => {
      const sql = `select (select count(*) from event_store.events where type = 'order.personal_data_erased.v1')::int as erased,
        (select count(*) from platform.personal_keys where wrapped_key is null)::int as dropped`;
      const [row] = await app.database.query<{ erased: number; dropped: number }>(sql);
      return row!.erased === orders.length && row!.dropped === orders.length;
    }, 4 * WAIT_MS);
    await eventually(async () => (await found(orders.map(({ user_id }) => user_id))).length === 0);
    last.child.kill('SIGTERM');
    await last.ended;
  },
  12 * WAIT_MS,
);

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { observe, type Observation } from '../../../src/contexts/exchange/domain/observation.js';
import { cancelOrder, createOrder, order } from '../../../src/contexts/exchange/domain/order.js';
import type { OrderFacts } from '../../../src/contexts/exchange/domain/order-events.js';
import { newId } from '../../../src/kernel/ids.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { facts } from '../../support/exchange/order-fixtures.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { invoke, type Run } from '../../support/programs/operator.js';

interface Report {
  readonly violations: { rule: string }[];
  readonly differences: string[];
}

const HOUR_MS = 3_600_000;

describe('npm run audit -- verify, of exchange orders', () => {
  let app: TestApp;
  let key: string;
  let completed: string;
  let cancelled: string;
  let pending: string;

  beforeAll(async () => {
    app = await startTestApp();
    key = app.exchange.open.credentials.apiKey;
    const loop = app.app.get<CommandLoop>(COMMAND_LOOP, { strict: false });
    const create = async (more: Partial<OrderFacts> = {}): Promise<string> => {
      const facts = { ...factsOf(key, app.merchant.credentials.apiKey), ...more };
      await loop.execute(order, facts.order_id, (state) => createOrder(facts, state));
      return facts.order_id;
    };
    completed = await create();
    cancelled = await create({ user_id: null, user_hash: null, caller: 'hash' });
    pending = await create();
    const at = new Date().toISOString();
    const deposit = { id: '1:0x1:0', amount: '120', transactionHash: '0x1', at };
    const outcome = { kind: 'completed', transactionHash: '0xout', amountTo: null } as const;
    const observation: Observation = {
      deposits: [deposit],
      isDepositPending: false,
      completeUntil: at,
      outcome,
      at,
    };
    await loop.execute(order, completed, (state) => observe(observation, state));
    await loop.execute(order, cancelled, (state) => cancelOrder({ at, isDepositPending: false }, state));
    const late = { ...observation, deposits: [{ ...deposit, id: '1:0x2:0', amount: '7' }], outcome: null };
    await loop.execute(order, cancelled, (state) => observe(late, state));
    await eventually(async () => {
      const rows = await app.database.query(
        "select from exchange.orders where body like '%late_deposits\":[{%'",
      );
      return rows.length === 1;
    });
  });
  afterAll(() => app.close());

  const audit = (...args: string[]): Promise<Run> =>
    invoke('audit', { DATABASE_URL: app.config.databaseUrl! }, ...args, 'verify');

  it('finds sound orders in order', async () => {
    const { printed, exitCode } = await audit();
    expect(printed).toContain('in order: the read models equal the replay');
    expect(printed).toContain('exchange.orders: 3 rows, 0 different');
    expect(exitCode).not.toBe(2);
  });

  it('explains what is refundable, late deposits included', async () => {
    const env = { DATABASE_URL: app.config.databaseUrl! };
    const { printed } = await invoke('audit', env, 'explain', 'order', cancelled);
    expect(printed).toMatch(/refundable +7, late deposits included; 0 refunded so far/);
  });

  it.each<[string, () => [sql: string, undo: string], () => string]>([
    [
      'a status',
      () => [
        `update exchange.orders set status = 3 where id = '${cancelled}'`,
        `update exchange.orders set status = 4 where id = '${cancelled}'`,
      ],
      () => `exchange.orders ${cancelled}: status is `,
    ],
    [
      'what the API shows',
      () => [
        `update exchange.orders set body = replace(body, '0.6', '0.7') where id = '${completed}'`,
        `update exchange.orders set body = replace(body, '0.7', '0.6') where id = '${completed}'`,
      ],
      () => `exchange.orders ${completed}: body is `,
    ],
    [
      'whose order it is',
      () => [
        `update exchange.orders set user_hash = 'x' where id = '${cancelled}'`,
        `update exchange.orders set user_hash = null where id = '${cancelled}'`,
      ],
      () => `exchange.orders ${cancelled}: user_hash is `,
    ],
    [
      'a row that is gone',
      () => [
        `update exchange.orders set id = md5('gone')::uuid where id = '${completed}'`,
        `update exchange.orders set id = '${completed}' where id = md5('gone')::uuid`,
      ],
      () => `exchange.orders ${completed}: no row, the events say that there is one`,
    ],
    [
      'the list of open orders',
      () => [
        `update work.items set key = 'gone' where kind = 'exchange.watch' and key = '${pending}'`,
        `update work.items set key = '${pending}' where kind = 'exchange.watch' and key = 'gone'`,
      ],
      () => `work.items ${pending}: not on the list, and the events say that it is open`,
    ],
  ])('names %s that was tampered with, and exits with 2', async (_name, change, difference) => {
    const [sql, undo] = change();
    await app.database.query(sql);
    const run = await audit('--json');
    await app.database.query(undo);
    expect(run.exitCode).toBe(2);
    const { differences } = JSON.parse(run.printed) as Report;
    expect(differences.some((each) => each.startsWith(difference()))).toBe(true);
    expect((await audit()).exitCode).not.toBe(2);
  });

  it('names a deposit that was tampered with: it is not what was exchanged', async () => {
    const change = (from: string, to: string) =>
      app.database.query(
        `update event_store.events set data = replace(data, '"amount":"${from}"', '"amount":"${to}"')
         where stream = 'order-${completed}' and type = 'order.deposit_received.v1'`,
      );
    await change('120', '1200');
    const run = await audit('--json');
    await change('1200', '120');
    expect(run.exitCode).toBe(2);
    const { violations } = JSON.parse(run.printed) as Report;
    expect(violations.map(({ rule }) => rule)).toContain(
      `order-${completed}, order.processing_started.v1: its amount_from is "120", and what was before it gives "1000"`,
    );
  });
});

function factsOf(keyId: string, merchantId: string): OrderFacts {
  const now = Date.now();
  return {
    ...facts,
    order_id: newId(),
    key_id: keyId,
    merchant_id: merchantId,
    user_id: 'ann',
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + HOUR_MS).toISOString(),
  };
}

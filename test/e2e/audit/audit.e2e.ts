import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  cancelOrder,
  createOrder,
  order,
  type OrderState,
} from '../../../src/contexts/exchange/orders/order.js';
import type { OrderEvent } from '../../../src/contexts/exchange/orders/order-events.js';
import { newId } from '../../../src/kernel/ids.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { testApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { deposit, facts, observing } from '../../support/exchange/order-fixtures.js';
import {
  createPayee,
  createUser,
  getPayout,
  reported,
  settledPayout,
} from '../../support/payouts/payout-calls.js';
import { dropTestDatabase, testDatabaseUrl } from '../../support/postgres.js';
import { invoke, type Run } from '../../support/programs/cli.js';
import { specFolder } from '../../support/run-folder.js';

interface Report extends Run {
  readonly violations: readonly { readonly rule: string }[];
  readonly differences: readonly string[];
  readonly not_checked: readonly string[];
}

async function verify(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Report> {
  const run = await invoke('audit', env, '--json', 'verify', ...args);
  return { ...(JSON.parse(run.printed) as Report), ...run };
}

// A separate service, because its database is tampered with.
const app = await testApp();
const { merchant, chain } = app;
const payees = [await createPayee(merchant), await createPayee(merchant)];
const users = [...payees.map(({ id }) => id), await createUser(merchant), await createUser(merchant)];
const pay = async (custom_metadata: object): Promise<string> => {
  const { hash } = await chain.transfer(payees[0]!.wallet, '2');
  const sent = { amount: '2', transaction_hash: ` ${hash}`, custom_metadata };
  const { id } = await reported(merchant, payees[0]!.id, sent);
  await settledPayout(merchant, id);
  return id;
};
const received = [await pay({ '\u0000': ['"', '\\'] }), await pay({})];
const pending = await Promise.all(
  [1, 2, 3, 4].map(async () => (await reported(merchant, users[3]!, { amount: '7.50' })).id),
);
const { completed, openOrder } = await createOrders(app);
// A read waits until the read models have the earlier writes.
await getPayout(merchant, pending[3]!);

const KEYS = 'platform.personal_keys';
const QUIET = `language plpgsql as 'begin return null; end'`;

/** Tamperings with full rights to the database, and their differences in an audit. */
const TAMPERINGS: readonly (readonly [name: string, sql: string, difference: string])[] = [
  [
    'a status',
    `update payouts.payouts set status = 1 where id = '${pending[0]}'`,
    `payouts.payouts ${pending[0]}: status is received, the events say pending`,
  ],
  [
    'a response that is no JSON any more',
    `update payouts.payouts set body = 'x' || body where id = '${received[0]}'`,
    `payouts.payouts ${received[0]}: body is `,
  ],
  [
    'a balance',
    `update payouts.balances set confirmed = confirmed + 1 where user_id = '${users[0]}'`,
    `user ${users[0]} has a balance that differs from the events`,
  ],
  [
    'a pending payout that no process verifies: its facts are gone',
    `delete from payouts.verifications where payout_id = '${pending[2]}'`,
    `payouts.verifications ${pending[2]}: not on the list, and the events say that it is open`,
  ],
  [
    'a pending payout that no process verifies: its item is gone',
    `delete from work.items where key = '${pending[3]}'`,
    `payouts.verifications ${pending[3]}: not on the list, and the events say that it is open`,
  ],
  [
    'a transfer that counts as used',
    `update payouts.payouts set log_index = 0 where id = '${pending[3]}'`,
    `payouts.payouts ${pending[3]}: log_index is 0, the events say null`,
  ],
  ['a receipt', `update payouts.receipts set receipt = receipt || ' '`, ': it does not have that SHA-256'],
  [
    'a key that was deleted, which is an erasure in secret',
    `delete from ${KEYS} where subject = '${users[0]}'`,
    `${KEYS} ${users[0]}: no row, and the events say nothing of an erasure`,
  ],
  [
    'a key that was dropped',
    `update ${KEYS} set wrapped_key = null, forgotten_at = now() where subject = '${users[1]}'`,
    `${KEYS} ${users[1]}: the key was dropped, and the events say nothing of an erasure`,
  ],
  [
    "another person's key",
    `update ${KEYS} set wrapped_key = (select wrapped_key from ${KEYS} where subject = '${users[3]}')
           where subject = '${users[2]}'`,
    `${KEYS} ${users[2]}: the key does not open`,
  ],
  [
    'what the API shows of an order',
    `update exchange.orders set body = replace(body, '0.6', '0.7') where id = '${completed}'`,
    `exchange.orders ${completed}: body is `,
  ],
  [
    'the list of open orders',
    `update work.items set key = 'gone' where kind = 'exchange.watch' and key = '${openOrder}'`,
    `work.items ${openOrder}: not on the list, and the events say that it is open`,
  ],
  [
    'a trigger on the events',
    `create function public.quiet() returns trigger ${QUIET};
           create trigger quiet before insert on event_store.events for each row when (new.type = 'none')
           execute function public.quiet()`,
    'the database has a trigger quiet on event_store.events, which no migration creates',
  ],
  [
    'row security on the events',
    'alter table event_store.events enable row level security',
    'the database has a row security on event_store.events, which no migration creates',
  ],
  [
    'a rule on a read model',
    'create rule quiet as on delete to payouts.payouts do instead nothing',
    'the database has a rule quiet on payouts.payouts, which no migration creates',
  ],
  [
    'a policy on users',
    'create policy quiet on users.users using (false)',
    'the database has a policy quiet on users.users, which no migration creates',
  ],
  [
    'a function',
    `create function payouts.quiet() returns int language sql as 'select 1'`,
    'the database has a function quiet',
  ],
];

describe('npm run audit -- verify', () => {
  const env = (): NodeJS.ProcessEnv => ({
    DATABASE_URL: app.config.databaseUrl!,
    MASTER_KEY: app.config.masterKey!,
  });

  it('reports an intact log as in order and changes no rows', async () => {
    const rows = (): Promise<object[]> => app.database.query('select * from payouts.payouts order by id');
    const before = await rows();
    const { printed, exitCode } = await invoke('audit', env(), 'verify');
    expect(printed).toContain('in order: the read models equal the replay');
    expect(printed).toContain('4 pending, 2 received, 0 expired');
    expect(printed).toContain('4 USDC confirmed, 30 pending');
    expect(printed).toContain('exchange.orders: 3 rows, 0 different');
    expect(exitCode).not.toBe(2);
    expect(await rows()).toEqual(before);
  });

  it('prints no differences while payouts are reported, for the log and for an export', async () => {
    const reports = Array.from({ length: 30 }, () => reported(merchant, users[3]!));
    for (let round = 0; round < 3; round += 1) expect((await verify(env())).exitCode).not.toBe(2);
    await Promise.all(reports);
    await getPayout(merchant, pending[3]!);
    const [out, own] = [join(specFolder('written'), 'out'), join(specFolder('own'), 'out')];
    await invoke('audit', env(), 'export', '--out', out);
    expect((await verify(env(), '--from', out)).exitCode).not.toBe(2);
    expect((await verify({}, '--from', out, '--offline')).exitCode).not.toBe(2);
    await invoke('audit', env(), 'export', '--out', own, '--merchant', merchant.credentials.apiKey);
    expect(await verify({}, '--from', own, '--offline')).toMatchObject({ exitCode: 1, violations: [] });
    await reported(merchant, users[3]!);
    await getPayout(merchant, pending[3]!);
    const behind = await verify(env(), '--from', out);
    expect(behind.exitCode).toBe(1);
    expect(behind.not_checked.join()).toContain('the export ends before their checkpoints');
  });

  it('reports an event store that ends before the checkpoints of the read models', async () => {
    const other = await testDatabaseUrl();
    const { printed, exitCode } = await invoke('audit', { ...env(), EVENT_STORE_URL: other }, 'verify');
    expect(printed).toContain('The event store ends before the checkpoint');
    expect(exitCode).toBe(2);
    await dropTestDatabase(other);
  });

  describe('of a database that was tampered with', () => {
    let report: Report;
    beforeAll(async () => {
      const { differences, not_checked } = await verify({ ...env(), MASTER_KEY: undefined });
      expect(differences).toEqual([]);
      expect(not_checked.join()).toContain('whether each personal key is the one of its person');
      await app.database.query(TAMPERINGS.map(([, sql]) => sql).join(';\n'));
      report = await verify(env());
    });

    it.each(TAMPERINGS)('names %s', (_name, _sql, difference) =>
      expect(report.differences).toContainEqual(expect.stringContaining(difference)),
    );

    it('exits with 2 and names no difference other than the tampered data', () => {
      expect(report.exitCode).toBe(2);
      const unexpected = report.differences.filter(
        (each) =>
          !TAMPERINGS.some(([, , difference]) => each.includes(difference)) &&
          // The balance above also differs in this row.
          !each.startsWith(`payouts.balances ${users[0]}: confirmed is 4000001`),
      );
      expect(unexpected).toEqual([]);
    });

    const change = (stream: string, from: string, to: string): string =>
      `update event_store.events set data = replace(data, '"amount":"${from}"', '"amount":"${to}"')
       where stream = '${stream}' and (type = 'order.deposit_received.v1' or revision = 0)`;

    it('names events that contradict earlier events of their stream', async () => {
      await app.database.query(
        [change(`payout-${received[1]}`, '2', '2000'), change(`order-${completed}`, '120', '1200')].join(';'),
      );
      const { violations } = await verify({ ...env(), MASTER_KEY: undefined });
      expect(violations.map(({ rule }) => rule)).toEqual(
        expect.arrayContaining([
          `payout-${received[1]}, payout.received.v2: its amount is "2", expected "2000"`,
          `order-${completed}, order.processing_started.v1: its amount_from is "120", expected "1000"`,
        ]),
      );
    });
  });
});

/** Creates a completed order, a cancelled one with a late deposit, and an open one. */
async function createOrders(app: TestApp): Promise<{ completed: string; openOrder: string }> {
  const loop = app.app.get(CommandLoop, { strict: false });
  const execute = (id: string, decide: (state: OrderState) => readonly OrderEvent[]): Promise<unknown> =>
    loop.execute(order, id, decide, { metadata: {} });
  const at = new Date().toISOString();
  const { open } = app.exchange;
  const whose = { key_id: open.credentials.apiKey, merchant_id: app.merchant.credentials.apiKey };
  const create = async (more: object = {}): Promise<string> => {
    const times = { created_at: at, expires_at: new Date(Date.now() + 3_600_000).toISOString() };
    const created = { ...facts, ...whose, ...times, order_id: newId(), user_id: 'ann', ...more };
    await execute(created.order_id, (state) => createOrder(created, state));
    return created.order_id;
  };
  const completed = await create();
  const cancelled = await create({ user_id: null, user_hash: null, caller: 'hash' });
  const openOrder = await create();
  const outcome = { kind: 'completed', transactionHash: '0xout', amountTo: null } as const;
  await execute(completed, observing({ at, deposits: [deposit('1:0x1:0', '120', at)], outcome }));
  await execute(cancelled, (state) => cancelOrder({ at, isDepositPending: false }, state));
  await execute(cancelled, observing({ at, deposits: [deposit('1:0x2:0', '7', at)] }));
  await eventually(async () => {
    const isListed = `select from exchange.orders where body like '%late_deposits":[{%'`;
    return (await app.database.query(isListed)).length === 1;
  });
  return { completed, openOrder };
}

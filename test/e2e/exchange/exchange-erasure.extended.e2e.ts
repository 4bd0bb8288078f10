import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { ORDER_ERASURE_FAILPOINTS } from '../../support/failpoints.js';
import type { OrderRecord } from '../../../src/contexts/exchange/orders/order-record.js';
import { startTestApp } from '../../support/app.js';
import { CLI, MAIN, runBuilt } from '../../support/erasure/killed.js';
import { programsFor } from '../../support/programs/cli.js';
import { dumpOf, filesIn, openedOf, tracesOf } from '../../support/erasure/traces.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';
import { exchangeSignature, type ExchangeCall } from '../../support/exchange/exchange-client.js';
import { ADDRESS, orderIn, type OrdersPage } from '../../support/exchange/exchange-orders.js';
import { expectAuditPasses } from '../../support/audit-passes.js';
import { startCollector, type Span } from '../../support/programs/otlp-collector.js';
import { specFolder } from '../../support/run-folder.js';

interface Payer {
  readonly user_id: string;
  readonly withdraw_address_tag: string;
  readonly withdraw_address_memo: string;
}

const NO_PERSON = { user_id: null, withdraw_address_tag: null, withdraw_address_memo: null };

const spans: Span[] = [];
/** Payers of ended orders, for the processes that are killed. */
const killed: { readonly payer: Payer; readonly id: string }[] = [];

const folder = specFolder('order-erasure');
const collector = await startCollector(spans);
// A separate service, because of its log, its spans, and kills.
const app = await startTestApp({
  LOG_LEVEL: 'debug',
  LOG_FILE: join(folder, 'service.log'),
  DATA_DIR: folder,
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
});
const client = app.exchange.open;
const create = (payer: Partial<Payer>, key: string = randomUUID(), by = client) =>
  by.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS, ...payer }, key);
while (killed.length < ORDER_ERASURE_FAILPOINTS.length) {
  const payer = newPayer();
  killed.push({ payer, id: (await ended(payer, randomUUID(), app.exchange.signing)).id });
}
afterAll(async () => {
  await expectAuditPasses(app.config.databaseUrl!);
  await app.close();
  collector.closeAllConnections();
  await new Promise((resolve) => collector.close(resolve));
});

function newPayer(): Payer {
  const mark = randomUUID().slice(0, 8);
  return {
    user_id: `quixotina.${mark}@unmistakable.example`,
    withdraw_address_tag: `tag-${mark}-vandersnoot`,
    withdraw_address_memo: `memo of ${mark}`,
  };
}

/** Creates and cancels an order, each under a key. */
async function ended(payer: Partial<Payer>, key?: string, by = client): Promise<OrderRecord> {
  const { id } = orderIn(await create(payer, key, by), 201);
  const path = `/v1/orders/${id}/cancel`;
  return orderIn(await by.call({ method: 'PATCH', path, signs: ADDRESS, idempotencyKey: randomUUID() }));
}

async function listed(user_id?: string): Promise<OrdersPage> {
  const today = new Date().toISOString().slice(0, 10);
  const query = { start_date: today, end_date: today, ...(user_id === undefined ? {} : { user_id }) };
  return (await client.list(query)).json();
}

/** Returns the places of the payer's data: tables, contents that any key opens, files. */
async function found(payer: Payer): Promise<string[]> {
  const dump = await dumpOf(app.database);
  const opened = await openedOf(dump, app.database, app.config.masterKey!);
  return tracesOf([...dump, ...opened, ...filesIn(folder)], { ...payer });
}

const run = programsFor(app, { READ_YOUR_WRITES_MS: '5000' });
const erase = (...args: string[]) => run('exchange', 'erase', ...args, '--yes');

it('user_id, tag and memo of orders are sealed, and no key opens them after an erasure', async () => {
  const [gone, stays] = [newPayer(), newPayer()];
  const key = randomUUID();
  const first = await ended(gone, key);
  const second = await ended(gone);
  const other = await ended(stays);
  expect(first).toMatchObject(gone);
  await eventually(async () => (await listed()).orders.every(({ status }) => status === 'cancelled'));
  expect((await listed(gone.user_id)).orders).toEqual([second, first]);

  // The personal key of each order opens them before the erasure, and nothing is stored in clear.
  const before = await found(gone);
  const everywhere = ['event_store.events', 'event_store.responses', 'exchange.orders'];
  expect([...new Set(before)].sort()).toEqual(
    everywhere.flatMap((table) =>
      ['user_id', 'withdraw_address_memo', 'withdraw_address_tag'].map(
        (name) => `sealed in ${table}: ${name}`,
      ),
    ),
  );
  const others = await found(stays);

  const { printed } = await erase('--key', client.credentials.apiKey, '--user-id', gone.user_id);
  expect(printed).toMatch(/^Erased: 2 orders\.\nA process that has just read/);
  expect(await found(gone)).toEqual([]);
  expect(await found(stays)).toEqual(others);

  // The orders remain, without a user.
  await eventually(async () => (await listed(gone.user_id)).total_count === 0);
  const { orders } = await listed();
  expect(orders).toEqual(
    [other, { ...second, ...NO_PERSON }, { ...first, ...NO_PERSON }].map((each) => ({
      ...each,
      updated_at: expect.any(String),
    })),
  );
  expect(orderIn(await client.act(first.id, 'refresh', ADDRESS))).toMatchObject({
    ...NO_PERSON,
    status: 'cancelled',
  });
  // The stored response is gone too. The same request creates no second order and displays nothing.
  expect((await create(gone, key)).status).toBe(409);
  expect(await found(gone)).toEqual([]);

  await run('rebuild', 'exchange.views');
  expect((await listed()).orders).toEqual(orders);
  expect(await found(gone)).toEqual([]);
});

const PAID_OUT_TO = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';
const [TAG, MEMO] = ['tag-6412077', 'memo-9913553'];
const QUERY = { withdraw_address: PAID_OUT_TO, withdraw_address_tag: TAG, withdraw_address_memo: MEMO };
const ORDER: ExchangeCall = { method: 'POST', path: '/v1/orders', query: { ...QUERY, pair_id: 'USDCSOL' } };

it('addresses, tags, memos and signatures of the exchange are neither logged nor traced', async () => {
  const { signing, open } = app.exchange;
  const calls: ExchangeCall[] = [
    ORDER,
    { ...ORDER, signs: 'another address' },
    { ...ORDER, query: { ...QUERY, pair_id: 'NONE' } },
    { path: '/v1/merchants/configuration', query: { ...QUERY, token: 'sol' } },
    { method: 'PATCH', path: '/v1/orders/none/cancel', signs: PAID_OUT_TO },
    { path: '/v1/merchant/orders', query: { withdraw_address: PAID_OUT_TO, start_date: '2026-01-01' } },
    { path: '/v1/nothing', query: QUERY },
    { path: '/v1/%zz', query: QUERY },
    { path: '/v1/tokens', query: { ...QUERY, to_token: 'sol' } },
  ];
  const statuses: number[] = [];
  for (const client of [signing, open])
    for (const call of calls) statuses.push((await client.call(call)).status);
  // The workers are separate processes from here on.
  await app.stop();
  expect(new Set(statuses)).toEqual(new Set([200, 201, 400, 401, 404, 422]));
  const signatures = [signing, open].flatMap(({ credentials: { secret } }) =>
    [PAID_OUT_TO, 'another address'].map((address) => exchangeSignature(secret, address)),
  );
  const secrets = [
    PAID_OUT_TO,
    TAG,
    MEMO,
    ...signatures,
    signing.credentials.secret,
    open.credentials.secret,
  ];
  const log = readFileSync(join(folder, 'service.log'), 'utf8');
  const traces = JSON.stringify(spans);
  // A malformed URL is refused before it becomes a request.
  expect(log.match(/"msg":"request"/g)?.length).toBeGreaterThanOrEqual(2 * (calls.length - 1));
  expect(spans.filter(({ name }) => name.startsWith('POST')).length).toBeGreaterThan(0);
  for (const secret of secrets)
    for (const text of [log, traces])
      expect(text.split('\n').find((line) => line.includes(secret))).toBeUndefined();
  expect(log).toContain(signing.credentials.apiKey);
});

it(
  'an erasure of orders whose process is killed at any failpoint is completed by the next worker',
  async () => {
    for (const [n, point] of ORDER_ERASURE_FAILPOINTS.entries()) {
      const args = ['exchange', 'erase', '--order', killed[n]!.id, '--yes', '--reason', 'on request'];
      if (point === 'order.erasure_recorded') {
        expect(await runBuilt(app, CLI, { FAILPOINT: point }, ...args).ended).toBe('SIGKILL');
        expect(await found(killed[n]!.payer)).toContain('sealed in event_store.events: user_id');
        continue;
      }
      expect(await runBuilt(app, CLI, {}, ...args).ended).toBe(0);
      expect([point, await runBuilt(app, MAIN, { FAILPOINT: point }).ended]).toEqual([point, 'SIGKILL']);
    }
    const last = runBuilt(app, MAIN, {});
    await eventually(async () => {
      const sql = `select count(*)::int as dropped from platform.personal_keys
        where wrapped_key is null and subject = any($1)`;
      const [row] = await app.database.query<{ dropped: number }>(sql, [killed.map(({ id }) => id)]);
      return row!.dropped === killed.length;
    }, 4 * WAIT_MS);
    for (const { payer } of killed) await eventually(async () => (await found(payer)).length === 0);
    last.child.kill('SIGTERM');
    await last.ended;
  },
  12 * WAIT_MS,
);

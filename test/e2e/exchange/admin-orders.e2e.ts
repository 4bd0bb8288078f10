import { describe, expect, it } from '@jest/globals';
import type { OrderJson } from '../../../src/contexts/exchange/orders/order-record.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import type { ExchangeClient } from '../../support/exchange/exchange-client.js';
import { ADDRESS, orderIn } from '../../support/exchange/exchange-orders.js';
import type { ApiResponse } from '../../support/http/signed-client.js';

interface Page {
  readonly orders: readonly OrderJson[];
  readonly next_cursor: string | null;
}

const REASON = 'Sent back by finance';
const PERSON = { user_id: 'ann', withdraw_address_tag: 'tag 1', withdraw_address_memo: 'memo 2' };

const app = await sharedApp();
const merchants = [app.merchant, app.secondMerchant].map(({ credentials }) => credentials.apiKey);
// Other suites create orders at the same service.
const admin = await app.newAdmin({ merchants });
const second = await app.newAdmin({ role: 'finance' });
const foreignKey = await app.newExchangeKey(false, app.secondMerchant.credentials.apiKey);
const created = async (by: ExchangeClient, more: object) =>
  orderIn(await by.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS, ...more }), 201);
const pay = async (address: string, amount: string): Promise<string> => {
  const { hash } = await app.chain.transfer(address, amount);
  await app.chain.mine();
  return hash;
};
const read = async (id: string, by = admin): Promise<OrderJson> =>
  (await by.get(`/orders/${id}`)).json().order;
const until = (id: string, holds: (order: OrderJson) => boolean): Promise<unknown> =>
  eventually(async () => holds(await read(id)));
const list = async (query: Record<string, string>, by = admin): Promise<Page> => {
  const response = await by.get(`/orders?${new URLSearchParams(query)}`);
  expect([response.status, response.text]).toEqual([200, expect.anything()]);
  return response.json();
};
const ids = async (query: Record<string, string>, by = admin): Promise<readonly string[]> =>
  (await list(query, by)).orders.map(({ id }) => id);
const etagOf = async (id: string): Promise<string> => (await admin.get(`/orders/${id}`)).headers['etag']!;
const refund = async (id: string, body: object, ifMatch?: string, by = admin): Promise<ApiResponse> =>
  by.call({ method: 'POST', path: `/orders/${id}/refunds`, body, ...(ifMatch ? { ifMatch } : {}) });
const body = (over: object = {}): object => ({
  amount: '33.5',
  transaction_hash: `0x${'ab'.repeat(32)}`,
  reason: REASON,
  ...over,
});

const { id: refundable, deposit_address } = await created(app.exchange.open, PERSON);
await pay(deposit_address, '100');
await until(refundable, ({ status }) => status === 'completed');
// A late deposit.
await pay(deposit_address, '33.5');
await until(refundable, ({ amount_refundable }) => amount_refundable === '33.5');
const open = (await created(app.exchange.signing, { user_id: 'ann' })).id;
const foreign = (await created(foreignKey, { user_id: 'ann' })).id;

describe('orders in the admin API', () => {
  it('are found by order id, deposit address and transaction hash of a deposit', async () => {
    const { deposit_address, late_deposits } = await read(refundable);
    const { transaction_hash } = late_deposits[0]!;
    const search = async (q: string, by = admin) =>
      (await by.get(`/search?q=${encodeURIComponent(q)}`)).json<{ results: readonly object[] }>().results;
    const confined = await app.newAdmin({ merchants: [app.secondMerchant.credentials.apiKey] });
    const found = { merchant_id: app.merchant.credentials.apiKey };
    const result = { ...found, kind: 'order', id: refundable, title: 'USDCSOL of 100, completed' };
    const plainHash = transaction_hash.slice(2).toUpperCase();
    for (const q of [refundable, deposit_address, transaction_hash, plainHash]) {
      await eventually(async () => (await search(q)).length === 1);
      expect(await search(q)).toEqual([result]);
      expect(await search(q, confined)).toEqual([]);
    }
  });

  it('are listed over all merchants, newest first, with deposits and refunds', async () => {
    const { orders, next_cursor } = await list({});
    expect(orders.map(({ id }) => id)).toEqual([foreign, open, refundable]);
    expect(next_cursor).toBeNull();
    expect(orders[2]).toMatchObject({
      ...PERSON,
      merchant_id: app.merchant.credentials.apiKey,
      api_key: app.exchange.open.credentials.apiKey,
      status: 'completed',
      deposits: [{ amount: '100', transaction_hash: expect.any(String), deposited_at: expect.any(String) }],
      late_deposits: [{ amount: '33.5' }],
      refunds: [],
    });
    expect(orders[2]).toEqual(await read(refundable));
    const first = await list({ page_size: '2' });
    expect(await ids({ page_size: '2', page_cursor: first.next_cursor! })).toEqual([refundable]);
  });

  it.each([
    ['user', 'x'],
    ['status', 'lost'],
    ['refundable', 'yes'],
  ])('get 400 for the invalid filter %s=%s, which the error names', async (name, value) => {
    const response = await admin.get(`/orders?${name}=${value}`);
    expect([response.status, response.text]).toEqual([400, expect.stringContaining(name)]);
  });

  it('hide their user from a key without users_personal:read, which gets 403 for the filter by user', async () => {
    const viewer = await app.newAdmin({ role: 'viewer' });
    const hidden = { user_id: null, withdraw_address_tag: null, withdraw_address_memo: null };
    expect(await read(refundable, viewer)).toMatchObject(hidden);
    expect((await list({ status: 'completed' }, viewer)).orders[0]).toMatchObject(hidden);
    const filtered = await viewer.get('/orders?user_id=ann');
    expect(filtered.status).toBe(403);
    expect(filtered.json().detail).toContain('users_personal:read');
  });

  it('refuse a refund at another revision, without a revision and with invalid fields', async () => {
    const etag = await etagOf(refundable);
    expect((await refund(refundable, body())).status).toBe(428);
    expect((await refund(refundable, body(), '"0"')).status).toBe(412);
    const more = await refund(refundable, body({ amount: '33.6' }), etag);
    expect([more.status, more.json().detail]).toEqual([409, 'At most 33.5 is refundable']);
    const faults: [object, string][] = [
      [{ amount: '0' }, 'amount'],
      [{ transaction_hash: 'nonsense' }, 'transaction_hash'],
      [{ reason: undefined }, 'reason'],
    ];
    for (const [fault, name] of faults) {
      const response = await refund(refundable, body(fault), etag);
      expect([response.status, response.json().errors]).toEqual([422, { [name]: expect.anything() }]);
    }
  });

  it('record a refund once a second operator approves it', async () => {
    const payer = await app.chain.funded.getAddress();
    const transaction_hash = await pay(payer, '33.5');
    const facts = body({ transaction_hash, ticket: 'FIN-7' });
    const requested = await refund(refundable, facts, await etagOf(refundable));
    expect(requested.status).toBe(202);
    const { operation } = requested.json();
    expect(operation).toMatchObject({
      name: 'orders.record_refund',
      status: 'pending_approval',
      subject: { kind: 'order', id: refundable },
      parameters: { amount: '33.5', transaction_hash, recipient: null },
      reason: REASON,
      ticket: 'FIN-7',
      approval: 'required',
    });
    const approve = `/operations/${operation.id}/approve`;
    expect((await admin.post(approve, { reason: 'My own' })).status).toBe(403);
    expect((await read(refundable)).refunds).toEqual([]);
    const approved = await second.post(approve, { reason: 'Checked on the chain' });
    expect([approved.status, approved.text]).toEqual([200, expect.stringContaining('"executed"')]);
    expect(await read(refundable)).toMatchObject({
      amount_refundable: '0',
      refunds: [{ amount: '33.5', transaction_hash, recorded_at: expect.any(String) }],
    });
    expect(await eventually(async () => (await ids({ refundable: 'true' })).length === 0)).toBe(true);
  });
});

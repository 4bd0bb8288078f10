import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { OrderRecord } from '../../../src/contexts/exchange/orders/order-record.js';
import { sharedApp } from '../../support/app.js';
import {
  ADDRESS,
  expectProblem,
  orderIn,
  OTHER_ADDRESS,
  type OrdersPage,
} from '../../support/exchange/exchange-orders.js';

const ORDERS = '/v1/orders';
const LEAST = { pair_id: 'USDCSOL', withdraw_address: ADDRESS };
const FULL = {
  ...LEAST,
  withdraw_address_tag: 'Tag 1&2=3',
  withdraw_address_memo: 'mémo + more',
  user_id: 'Zoë/日本?#',
};

const app = await sharedApp();
const { open, signing } = app.exchange;

const created = async (query: Record<string, string> = LEAST, by = signing): Promise<OrderRecord> =>
  orderIn(await by.order(query), 201);
const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
/** Includes tomorrow, in case the day ends during the suite. */
const NOW = { start_date: daysAgo(1), end_date: daysAgo(-1) };
const listed = async (query: Record<string, string> = {}, by = signing): Promise<OrdersPage> =>
  (await by.list({ ...NOW, ...query })).json();

describe('POST /v1/orders', () => {
  it('201: returns the order with everything that was requested', async () => {
    const order = await created(FULL);
    expect(order).toEqual({
      ...FULL,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'pending',
      reason: null,
      deposit_address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      deposit_address_tag: null,
      amount_from: '100',
      amount_to: expect.stringMatching(/^[0-9]+(\.[0-9]+)?$/),
      amount_received: '0',
      amount_refundable: '0',
      rate: expect.any(String),
      minimum: expect.any(String),
      maximum: expect.any(String),
      deposit_transaction_hash: null,
      withdraw_transaction_hash: null,
      late_deposits: [],
      waits_until: null,
      refunds: [],
      refund_transaction_hash: null,
      created_at: expect.any(String),
      updated_at: order.created_at,
      expires_at: expect.any(String),
    });
    expect(Date.parse(order.expires_at) - Date.parse(order.created_at)).toBe(3_600_000);
  });

  it('201: creates a minimal order with its own deposit address and no user', async () => {
    const [one, other] = [await created(LEAST, open), await created(LEAST, open)];
    expect([one.withdraw_address_tag, one.withdraw_address_memo, one.user_id]).toEqual([null, null, null]);
    expect(one.id).not.toBe(other.id);
    expect(one.deposit_address).not.toBe(other.deposit_address);
    const empty = await created({ ...LEAST, withdraw_address_tag: '', withdraw_address_memo: '' }, open);
    expect([empty.withdraw_address_tag, empty.withdraw_address_memo]).toEqual([null, null]);
    expect((await open.call({ method: 'POST', path: ORDERS, query: LEAST, signs: null })).status).toBe(201);
  });

  it('201: returns any user_id, tag and memo of up to 255 characters unchanged', async () => {
    const user_id = `'; drop table exchange.orders; -- <script>"\\ %00 \u202e${'😀'.repeat(50)}`;
    const longest = '😀'.repeat(255);
    const texts = { user_id, withdraw_address_tag: longest, withdraw_address_memo: longest };
    const sent = { ...LEAST, ...texts, user_id: ` ${user_id} ` };
    const order = await created({ ...sent, amount: '5', unknown: 'ignored' });
    expect(order).toMatchObject(texts);
    expect(await listed({ user_id })).toMatchObject({ total_count: 1, orders: [order] });
    expect(await listed({ user_id: sent.user_id })).toMatchObject({ total_count: 1 });
  });

  it('201: creates one order for an Idempotency-Key, however often it is repeated', async () => {
    const key = randomUUID();
    const before = (await listed()).total_count;
    const responses = await Promise.all(Array.from({ length: 5 }, () => signing.order(FULL, key)));
    const again = await signing.order(FULL, key);
    const created = responses.filter(({ status }) => status === 201);
    expect(created.length).toBeGreaterThan(0);
    expect(responses.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(new Set([...created, again].map(({ text }) => text)).size).toBe(1);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await listed()).total_count).toBe(before + 1);
    expectProblem(await signing.order({ ...FULL, withdraw_address_memo: 'another' }, key), 422);
    expectProblem(await signing.order({ ...FULL, withdraw_address: OTHER_ADDRESS }, key), 422);
    expect((await open.order(FULL, key)).headers['idempotent-replayed']).toBeUndefined();
  });

  const bad: [string, Record<string, string | undefined>, string][] = [
    ['no pair', { pair_id: undefined }, 'pair_id'],
    ['no address', { withdraw_address: undefined }, 'withdraw_address'],
    ['the system program as the address', { withdraw_address: '1'.repeat(32) }, 'withdraw_address'],
    ['a tag with a line feed', { withdraw_address_tag: 'a\nb' }, 'withdraw_address_tag'],
    ['a user of 256 characters', { user_id: '😀'.repeat(256) }, 'user_id'],
  ];
  it.each(bad)('422: creates no order with %s', async (_, change, name) => {
    expectProblem(await open.order({ ...LEAST, ...change }), 422, { [name]: [expect.any(String)] });
  });
});

const ACTIONS = ['refresh', 'cancel', 'mark_as_paid'] as const;

describe('PATCH /v1/orders/{id}/...', () => {
  it('200: refreshes an order, marks it as paid, and accepts a repeat', async () => {
    const order = await created();
    expect(orderIn(await signing.act(order.id, 'refresh', ADDRESS))).toEqual(order);
    const paid = orderIn(await signing.act(order.id, 'mark_as_paid', ADDRESS));
    const waits_until = expect.stringMatching(/^\d{4}-/);
    expect(paid).toEqual({ ...order, status: 'paid', waits_until, updated_at: expect.any(String) });
    expect(orderIn(await signing.act(order.id.toUpperCase(), 'mark_as_paid', ADDRESS))).toEqual(paid);
    expectProblem(await signing.act(order.id, 'cancel', ADDRESS), 409);
    expect(orderIn(await signing.act(order.id, 'refresh', ADDRESS))).toEqual(paid);
  });

  it.each(ACTIONS)('200: accepts an empty object for %s. 415: refuses a Content-Encoding', async (action) => {
    const path = `${ORDERS}/${(await created()).id}/${action}`;
    const call = { method: 'PATCH', path, signs: ADDRESS, body: '{}' } as const;
    expectProblem(await signing.call({ ...call, headers: { 'content-encoding': 'br' } }), 415);
    expect((await signing.call(call)).status).toBe(200);
  });

  it('200: cancels an order, which can then be neither paid nor cancelled again', async () => {
    const order = await created();
    const cancelled = orderIn(await signing.act(order.id, 'cancel', ADDRESS));
    expect(cancelled).toEqual({ ...order, status: 'cancelled', updated_at: expect.any(String) });
    expectProblem(await signing.act(order.id, 'cancel', ADDRESS), 409);
    expectProblem(await signing.act(order.id, 'mark_as_paid', ADDRESS), 409);
    expect((await listed({ status: 'cancelled' })).orders).toContainEqual(cancelled);
  });

  it.each(ACTIONS)('401: refuses %s without a signature or with one over another address', async (action) => {
    const order = await created();
    const path = `${ORDERS}/${order.id}/${action}`;
    expectProblem(await signing.call({ method: 'PATCH', path, signs: null }), 401);
    expectProblem(await signing.call({ method: 'PATCH', path, signs: '' }), 401);
    // The order's own address counts. One in the query is ignored.
    const query = { withdraw_address: OTHER_ADDRESS };
    expectProblem(await signing.call({ method: 'PATCH', path, query }), 401);
    expectProblem(await signing.act(order.id, action, OTHER_ADDRESS), 401);
    expect(orderIn(await signing.act(order.id, 'refresh', ADDRESS))).toEqual(order);
    const free = await created(LEAST, open);
    expectProblem(await open.act(free.id, action, OTHER_ADDRESS), 401);
    const unsigned = { method: 'PATCH', path: `${ORDERS}/${free.id}/${action}`, signs: null } as const;
    expect((await open.call(unsigned)).status).toBe(200);
  });

  it('200: returns the recorded order only to its own key with the right signature', async () => {
    const order = await created();
    expect(orderIn(await signing.read(order.id, ADDRESS))).toEqual(order);
    const paid = orderIn(await signing.act(order.id, 'mark_as_paid', ADDRESS));
    expect(paid.waits_until).toMatch(/^\d{4}-/);
    expect(orderIn(await signing.read(order.id, ADDRESS))).toEqual(paid);
    expectProblem(await signing.read(order.id, OTHER_ADDRESS), 401);
    expectProblem(await open.read(order.id, ADDRESS), 404);
    expectProblem(await signing.read(randomUUID(), ADDRESS), 404);
  });

  it.each(ACTIONS)('404: refuses %s for the order of another key and for an unknown id', async (action) => {
    const order = await created();
    const stranger = await app.newExchangeKey(true, app.secondMerchant.credentials.apiKey);
    const refusals = await Promise.all([
      stranger.act(order.id, action, ADDRESS),
      open.act(order.id, action, ADDRESS),
      open.act(randomUUID(), action, ADDRESS),
      open.act('1', action, ADDRESS),
      open.act(`${order.id}0`, action, ADDRESS),
      open.act('%00', action, ADDRESS),
    ]);
    const bodies = refusals.map((response) => {
      expectProblem(response, 404);
      return response.text;
    });
    expect(new Set(bodies).size).toBe(1);
    expect(orderIn(await signing.act(order.id, 'refresh', ADDRESS))).toEqual(order);
  });

  it('404: refuses an unknown action. 405: refuses a wrong method', async () => {
    const order = await created(LEAST, open);
    const { apiKey } = open.credentials;
    const call = (method: string, path: string): Promise<number> =>
      fetch(`${app.url}${path}?api_key=${apiKey}`, { method }).then(({ status }) => status);
    expect(await call('PATCH', `${ORDERS}/${order.id}/complete`)).toBe(404);
    expect(await call('PUT', `${ORDERS}/${order.id}`)).toBe(405);
    expect(await call('POST', `${ORDERS}/${order.id}/cancel`)).toBe(405);
    expect(await call('GET', ORDERS)).toBe(405);
  });
});

const JANUARY = { start_date: '2026-01-01', end_date: '2026-01-31' };

const key = await app.newExchangeKey(false);
const ids: string[] = [];
for (const more of [
  { user_id: 'ann' },
  { user_id: 'bob' },
  { user_id: 'ann', withdraw_address: OTHER_ADDRESS },
])
  ids.push((await created({ ...LEAST, ...more }, key)).id);

describe('GET /v1/merchant/orders', () => {
  const displayed = async (query: Record<string, string>, by = key): Promise<number[]> => {
    const { total_count, orders, next_cursor } = await listed(query, by);
    expect(orders).toHaveLength(total_count);
    expect(next_cursor).toBeNull();
    return orders.map(({ id }) => ids.indexOf(id));
  };
  it.each<[string, Record<string, string>, number[]]>([
    ['all orders, newest first', {}, [2, 1, 0]],
    ['orders that match all filters', { user_id: 'ann', status: 'pending', withdraw_address: ADDRESS }, [0]],
    ['the orders of 92 days', { start_date: daysAgo(91), end_date: daysAgo(0) }, [2, 1, 0]],
  ])('200: lists %s', async (_, query, expected) => {
    expect(await displayed(query)).toEqual(expected);
  });

  it('200: lists nothing of another key, whether of the same merchant or not', async () => {
    expect(await displayed({}, await app.newExchangeKey(false))).toEqual([]);
    const stranger = await app.newExchangeKey(false, app.secondMerchant.credentials.apiKey);
    expect(await displayed({ user_id: 'ann' }, stranger)).toEqual([]);
    const cursor = (await listed({ page_size: '1' }, key)).next_cursor!;
    expect(await displayed({ page_cursor: cursor }, stranger)).toEqual([]);
  });

  it.each<[string, Record<string, string | undefined>, RegExp]>([
    ['no start date', { end_date: '2026-01-31' }, /^start_date is required/],
    ['a start that is no date', { ...JANUARY, start_date: '2026-02-30' }, /^start_date must be a date/],
    ['an end before the start', { ...JANUARY, end_date: '2025-12-31' }, /^end_date must not lie before/],
    ['a period of 93 days', { ...JANUARY, end_date: '2026-04-04' }, /^end_date must lie at most 92 days/],
    ['a status that does not exist', { ...JANUARY, status: 'done' }, /^status must be one of/],
    ['a page size of 0', { ...JANUARY, page_size: '0' }, /^page_size must/],
    ['an invalid cursor', { ...JANUARY, page_cursor: 'abc' }, /^page_cursor must/],
    ['a misspelt filter', { ...JANUARY, staus: 'paid' }, /^staus is not a parameter/],
  ])('400: refuses %s', async (_, query, detail) => {
    const response = await key.list(query);
    expectProblem(response, 400);
    expect(response.json().detail).toMatch(detail);
  });
});

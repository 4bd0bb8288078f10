import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { OrderRecord } from '../../../src/contexts/exchange/domain/order-record.js';
import { onTestApp } from '../../support/app.js';
import { exchangeSignature, type ExchangeClient } from '../../support/exchange/exchange-client.js';
import {
  ADDRESS,
  callerOf,
  expectProblem,
  orderIn,
  OTHER_ADDRESS,
} from '../../support/exchange/exchange-orders.js';
import { navigate, payUrl } from '../../support/exchange/pay-page.js';
import { send } from '../../support/http/signed-client.js';

const ORDERS = '/v1/orders';
const LEAST = { pair_id: 'USDCSOL', withdraw_address: ADDRESS };
const FULL = {
  ...LEAST,
  withdraw_address_tag: 'Tag 1&2=3',
  withdraw_address_memo: 'mémo + more',
  user_id: 'Zoë/日本?#',
};
const LONG = 'a'.repeat(10_000);

const app = onTestApp();
let open: ExchangeClient;
let signing: ExchangeClient;

beforeAll(() => {
  ({ open, signing } = app.exchange);
});

const created = async (query: Record<string, string> = LEAST, by = signing): Promise<OrderRecord> =>
  orderIn(await by.order(query), 201);
const count = async (by: ExchangeClient): Promise<number> => {
  const today = new Date().toISOString().slice(0, 10);
  return (await by.list({ start_date: today, end_date: today })).json<{ total_count: number }>().total_count;
};

/** Responses are checked against the OpenAPI document by the client itself. */
describe('POST /v1/orders', () => {
  it('201: the order, with everything that was requested', async () => {
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
      created_at: expect.any(String),
      updated_at: order.created_at,
      expires_at: expect.any(String),
    });
    expect(Date.parse(order.expires_at) - Date.parse(order.created_at)).toBe(3_600_000);
  });

  it('201: the least of it, each with a deposit address of its own; null and not the caller in place of a user', async () => {
    const [one, other] = [await created(LEAST, open), await created(LEAST, open)];
    expect([one.withdraw_address_tag, one.withdraw_address_memo, one.user_id]).toEqual([null, null, null]);
    expect(one.id).not.toBe(other.id);
    expect(one.deposit_address).not.toBe(other.deposit_address);
    const empty = await created({ ...LEAST, withdraw_address_tag: '', withdraw_address_memo: '' }, open);
    expect([empty.withdraw_address_tag, empty.withdraw_address_memo]).toEqual([null, null]);
    expect((await open.call({ method: 'POST', path: ORDERS, query: LEAST, signs: null })).status).toBe(201);
  });

  it('201: text of any kind comes back as it was sent, and nothing else is given away by it', async () => {
    const user_id = `'; drop table exchange.orders; -- <script>"\\ %00 \u202e${'😀'.repeat(50)}`;
    const order = await created({ ...LEAST, user_id });
    expect(order.user_id).toBe(user_id);
    const today = new Date().toISOString().slice(0, 10);
    const listed = await signing.list({ start_date: today, end_date: today, user_id });
    expect(listed.json()).toMatchObject({ total_count: 1, orders: [order] });
  });

  it('201: once for an Idempotency-Key, however often it is sent', async () => {
    const key = randomUUID();
    const before = await count(signing);
    const responses = await Promise.all(Array.from({ length: 5 }, () => signing.order(FULL, key)));
    const again = await signing.order(FULL, key);
    const created = responses.filter(({ status }) => status === 201);
    expect(created.length).toBeGreaterThan(0);
    expect(responses.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(new Set([...created, again].map(({ text }) => text)).size).toBe(1);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await count(signing)).toBe(before + 1);
    expectProblem(await signing.order({ ...FULL, withdraw_address_memo: 'another' }, key), 422);
    expectProblem(await signing.order({ ...FULL, withdraw_address: OTHER_ADDRESS }, key), 422);
    expect((await open.order(FULL, key)).headers['idempotent-replayed']).toBeUndefined();
  });

  it("201: without a user it is the caller's by a hash of the address, and a header cannot change it", async () => {
    const call = { method: 'POST', path: ORDERS, query: LEAST } as const;
    const callers = await Promise.all(
      ['203.0.113.7', '203.0.113.8', '127.0.0.1'].map(async (address) => {
        const created = await open.call({ ...call, headers: { 'x-forwarded-for': address } });
        return callerOf(app, orderIn(created, 201));
      }),
    );
    expect(callers[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(callers).size).toBe(1);
    expect(await callerOf(app, await created({ ...LEAST, user_id: 'ann' }))).toBeNull();
  });

  const bad: [string, Record<string, string | undefined>, string][] = [
    ['no pair', { pair_id: undefined }, 'pair_id'],
    ['no address', { withdraw_address: undefined }, 'withdraw_address'],
    ...['', 'USDC-SOL', 'USDCSO', 'SOLUSDC', 'USDCSOL ', '__proto__', 'constructor', LONG].map(
      (wrong): [string, Record<string, string>, string] => [
        `the pair ${wrong.slice(0, 20)}`,
        { pair_id: wrong },
        'pair_id',
      ],
    ),
    ...[
      '',
      ADDRESS.slice(3),
      `${ADDRESS}1`,
      ` ${ADDRESS}`,
      ADDRESS.replace('N', 'O'),
      ADDRESS.replace('N', 'l'),
      '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
      '1'.repeat(44),
      LONG,
    ].map((wrong): [string, Record<string, string>, string] => [
      `the address ${wrong.slice(0, 50)}`,
      { withdraw_address: wrong },
      'withdraw_address',
    ]),
    ...(['withdraw_address_tag', 'withdraw_address_memo', 'user_id'] as const).flatMap(
      (name): [string, Record<string, string>, string][] => [
        [`a line feed in ${name}`, { [name]: 'a\nb' }, name],
        [`a zero byte in ${name}`, { [name]: 'a\0' }, name],
        [`256 characters in ${name}`, { [name]: '😀'.repeat(256) }, name],
        [`10,000 characters in ${name}`, { [name]: LONG }, name],
      ],
    ),
    ['an empty user', { user_id: '' }, 'user_id'],
  ];
  it.each(bad)('422, and nothing is created: %s', async (_, change, name) => {
    expectProblem(await open.order({ ...LEAST, ...change }), 422, { [name]: [expect.any(String)] });
  });

  it('201: what is just allowed', async () => {
    const longest = '😀'.repeat(255);
    const order = await created({
      ...LEAST,
      withdraw_address_tag: longest,
      withdraw_address_memo: longest,
      user_id: longest,
    });
    expect([order.withdraw_address_tag, order.withdraw_address_memo, order.user_id]).toEqual([
      longest,
      longest,
      longest,
    ]);
    await created({ ...LEAST, withdraw_address: '1'.repeat(32), amount: '5', unknown: 'ignored' });
  });

  it('400: a parameter that is given twice, and nothing is created', async () => {
    const before = await count(open);
    const { apiKey, secret } = open.credentials;
    const signature = exchangeSignature(secret, ADDRESS);
    for (const name of [...Object.keys(FULL), 'api_key', 'signature', 'any']) {
      const query = new URLSearchParams({ api_key: apiKey, signature, ...FULL });
      query.append(name, query.get(name) ?? '1');
      if (name === 'any') query.append(name, '2');
      const response = await fetch(`${app.url}${ORDERS}?${query}`, { method: 'POST' });
      expect([name, response.status]).toEqual([name, 400]);
      expect(await response.json()).toMatchObject({ detail: `${name} must be given once` });
    }
    expect(await count(open)).toBe(before);
  });

  it('400: an Idempotency-Key that is no quoted uuid; an unknown parameter of 10,000 characters', async () => {
    const call = {
      method: 'POST',
      path: ORDERS,
      query: LEAST,
      headers: { 'idempotency-key': 'abc' },
    } as const;
    expectProblem(await open.call(call), 400);
    expectProblem(await open.order({ ...LEAST, any: LONG }), 400);
  });

  it('422: a pair of the catalogue that the provider of new orders does not do', async () => {
    expectProblem(await open.order({ ...LEAST, pair_id: 'BTCSOL' }), 422, { pair_id: [expect.any(String)] });
  });

  it('400, and nothing is created: a memo, a tag or a user_id of bytes that are no UTF-8', async () => {
    const { apiKey, secret } = open.credentials;
    const query = `api_key=${apiKey}&pair_id=USDCSOL&withdraw_address=${ADDRESS}`;
    for (const name of ['withdraw_address_memo', 'withdraw_address_tag', 'user_id']) {
      const order = await send(`${app.url}${ORDERS}?${query}&${name}=caf%e9`, { method: 'POST' });
      const page = await navigate(`${payUrl(app)}/widget?${query}&${name}=caf%e9`);
      expect([name, order.status, page.status]).toEqual([name, 400, 400]);
    }
    const day = new Date().toISOString().slice(0, 10);
    const list = `${app.url}/v1/merchant/orders?start_date=${day}&end_date=${day}`;
    const headers = { 'x-api-key': apiKey, 'x-signature': exchangeSignature(secret, '') };
    expect((await send(`${list}&user_id=caf%e9`, { headers })).status).toBe(400);
    expect((await send(list, { headers })).text).not.toContain('\ufffd');
  });
});

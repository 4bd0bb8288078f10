import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ORDER_STATUSES } from '../../../src/contexts/exchange/domain/order-events.js';
import { startService } from '../../../sandbox/service.js';
import type { Service } from '../../../src/service.js';
import { onTestApp } from '../../support/app.js';
import {
  exchangeSignature,
  ExchangeClient,
  type ExchangeCall,
} from '../../support/exchange/exchange-client.js';
import {
  ADDRESS,
  LIST,
  OTHER_ADDRESS,
  pastOrders,
  type OrdersPage,
} from '../../support/exchange/exchange-orders.js';
import type { ApiResponse } from '../../support/http/signed-client.js';

const JANUARY = { start_date: '2026-01-01', end_date: '2026-01-31' };

/** Responses are checked against the OpenAPI document by the client itself. */
describe('GET /v1/merchant/orders', () => {
  const app = onTestApp();
  let key: ExchangeClient;
  let ids: string[];

  beforeAll(async () => {
    key = app.exchange.open;
    const day = (n: number): string => `2026-01-${String(n).padStart(2, '0')}`;
    ids = await pastOrders(app, key, [
      { created_at: `${day(1)}T00:00:00.000Z`, user_id: 'ann' },
      { created_at: `${day(2)}T10:30:00.000Z`, user_id: 'bob', then: ['order.cancelled.v1'] },
      { created_at: `${day(2)}T10:30:00.001Z`, user_id: 'ann', withdraw_address: OTHER_ADDRESS },
      { created_at: `${day(2)}T11:00:00.000Z`, then: ['order.expired.v1'] },
      { created_at: `${day(31)}T23:59:59.999Z`, user_id: 'Zoë 日本', withdraw_address: OTHER_ADDRESS },
      { created_at: '2026-02-01T00:00:00.000Z', user_id: 'ann' },
    ]);
  });

  const page = async (query: Record<string, string>, by = key): Promise<OrdersPage> => {
    const response = await by.list(query);
    expect([response.status, response.text.slice(0, 200)]).toEqual([200, expect.anything()]);
    return response.json<OrdersPage>();
  };
  const displayed = async (query: Record<string, string>, by = key): Promise<number[]> => {
    const { total_count, orders, next_cursor } = await page(query, by);
    expect(orders).toHaveLength(total_count);
    expect(next_cursor).toBeNull();
    return orders.map(({ id }) => ids.indexOf(id));
  };
  const problem = (response: ApiResponse, status: number, detail: RegExp): void => {
    expect([response.status, response.headers['content-type']]).toEqual([
      status,
      'application/problem+json; charset=utf-8',
    ]);
    expect(response.json()).toMatchObject({ status, errors: {}, detail: expect.stringMatching(detail) });
  };

  it.each<[string, Record<string, string>, number[]]>([
    ['all of a month, newest first', JANUARY, [4, 3, 2, 1, 0]],
    ['one day', { start_date: '2026-01-02', end_date: '2026-01-02' }, [3, 2, 1]],
    [
      'from an instant, inclusive',
      { start_date: '2026-01-02T10:30:00.001Z', end_date: '2026-01-02' },
      [3, 2],
    ],
    ['to an instant, inclusive', { start_date: '2026-01-02', end_date: '2026-01-02T10:30:00Z' }, [1]],
    ['an instant alone', { start_date: '2026-01-02T10:30:00Z', end_date: '2026-01-02T10:30:00Z' }, [1]],
    [
      'instants of another zone',
      { start_date: '2026-01-02T12:00:00+01:00', end_date: '2026-01-02T12:00:00+01:00' },
      [3],
    ],
    ['a user', { ...JANUARY, user_id: 'ann' }, [2, 0]],
    ['a user of any letters', { ...JANUARY, user_id: 'Zoë 日本' }, [4]],
    ['a user that nobody is', { ...JANUARY, user_id: 'ANN' }, []],
    ['a status', { ...JANUARY, status: 'pending' }, [4, 2, 0]],
    ['another status', { ...JANUARY, status: 'cancelled' }, [1]],
    ['an address', { ...JANUARY, withdraw_address: OTHER_ADDRESS }, [4, 2]],
    ['everything', { ...JANUARY, user_id: 'ann', status: 'pending', withdraw_address: ADDRESS }, [0]],
    ['92 days', { start_date: '2025-11-01', end_date: '2026-02-01' }, [5, 4, 3, 2, 1, 0]],
    ['days without orders', { start_date: '2020-01-01', end_date: '2020-01-31' }, []],
  ])('200: %s', async (_, query, expected) => {
    expect(await displayed(query)).toEqual(expected);
  });

  it('200: an order as it is, with null for what it has not', async () => {
    const { orders } = await page({ ...JANUARY, status: 'expired' });
    expect(orders).toEqual([
      {
        id: ids[3],
        pair_id: 'USDCSOL',
        status: 'expired',
        reason: null,
        withdraw_address: ADDRESS,
        withdraw_address_tag: null,
        withdraw_address_memo: null,
        user_id: null,
        deposit_address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
        deposit_address_tag: null,
        amount_from: '100',
        amount_to: '0.5',
        amount_received: '0',
        amount_refundable: '0',
        rate: '0.005',
        minimum: '10',
        maximum: '1000',
        deposit_transaction_hash: null,
        withdraw_transaction_hash: null,
        late_deposits: [],
        created_at: '2026-01-02T11:00:00.000Z',
        updated_at: '2026-01-02T11:00:00.000Z',
        expires_at: '2026-01-02T12:00:00.000Z',
      },
    ]);
  });

  it('200: a status in any case, times without seconds and offset, and a + that arrived as a blank', async () => {
    expect((await page({ ...JANUARY, status: 'EXPIRED' })).total_count).toBe(1);
    const span = { start_date: '2026-01-02T00:00', end_date: '2026-01-03T01:00:00+01:00' };
    const { total_count } = await page(span);
    expect(total_count).toBeGreaterThan(0);
    expect((await page({ ...span, end_date: '2026-01-03T01:00:00 01:00' })).total_count).toBe(total_count);
  });

  it('200: the same orders by pages of every size, each with the count of all', async () => {
    for (const size of [1, 2, 4, 5, 6]) {
      const seen: number[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const after: Record<string, string> = cursor === '' ? {} : { page_cursor: cursor };
        const one = await page({ ...JANUARY, page_size: String(size), ...after });
        expect(one.total_count).toBe(5);
        expect(one.orders.length).toBeLessThanOrEqual(size);
        seen.push(...one.orders.map(({ id }) => ids.indexOf(id)));
        cursor = one.next_cursor;
      }
      expect(seen).toEqual([4, 3, 2, 1, 0]);
    }
  });

  it('200: nothing of another key, of the same merchant or not', async () => {
    expect(await displayed(JANUARY, app.exchange.signing)).toEqual([]);
    const stranger = await app.newExchangeKey(false, app.secondMerchant.credentials.apiKey);
    expect(await displayed({ ...JANUARY, user_id: 'ann' }, stranger)).toEqual([]);
    const cursor = (await page({ ...JANUARY, page_size: '1' })).next_cursor!;
    expect(await displayed({ ...JANUARY, page_cursor: cursor }, stranger)).toEqual([]);
  });

  it.each<[string, Record<string, string | undefined>, RegExp]>([
    ['no start', { end_date: '2026-01-31' }, /^start_date is required/],
    ['no end', { start_date: '2026-01-01' }, /^end_date is required/],
    ...[
      '',
      '2026-02-30',
      '2026-1-1',
      '20260101',
      'yesterday',
      '2026-01-01 00:00:00Z',
      '0000-01-01',
      '1969-12-31',
      '9999-12-31',
      '1767225600',
      '2026-W01-1',
      'x'.repeat(10_000),
    ].map((wrong): [string, Record<string, string>, RegExp] => [
      `the start ${wrong.slice(0, 30)}`,
      { ...JANUARY, start_date: wrong },
      /^start_date must/,
    ]),
    ['an end that is none', { ...JANUARY, end_date: '2026-01-32' }, /^end_date must be a date/],
    [
      'an end before the start',
      { start_date: '2026-01-02', end_date: '2026-01-01' },
      /^end_date must not lie before/,
    ],
    [
      'an instant before the start',
      { start_date: '2026-01-02', end_date: '2026-01-01T23:59:59.999Z' },
      /^end_date/,
    ],
    ['93 days', { start_date: '2025-11-01', end_date: '2026-02-02' }, /^end_date must lie at most 92 days/],
    [
      'a millisecond too many',
      { start_date: '2025-11-01', end_date: '2026-02-01T00:00:00.001Z' },
      /^end_date/,
    ],
    ['a status that does not exist', { ...JANUARY, status: 'done' }, /^status must be one of/],
    ['an empty user', { ...JANUARY, user_id: '' }, /^user_id must not be empty/],
    ['a user of 256', { ...JANUARY, user_id: '😀'.repeat(256) }, /^user_id must/],
    ['a user with a line feed', { ...JANUARY, user_id: 'a\nb' }, /^user_id must/],
    ['a user with a zero byte', { ...JANUARY, user_id: 'a\0' }, /^user_id must/],
    ['a user of 10,000', { ...JANUARY, user_id: 'a'.repeat(10_000) }, /^user_id must/],
    ['an address one letter off', { ...JANUARY, withdraw_address: `${ADDRESS}1` }, /^withdraw_address must/],
    ['an address of 10,000', { ...JANUARY, withdraw_address: '1'.repeat(10_000) }, /^withdraw_address must/],
    ['a page of 0', { ...JANUARY, page_size: '0' }, /^page_size must/],
    ['a page of 1001', { ...JANUARY, page_size: '1001' }, /^page_size must/],
    ['a cursor that is none', { ...JANUARY, page_cursor: 'abc' }, /^page_cursor must/],
    ['a misspelt filter', { ...JANUARY, staus: 'paid' }, /^staus is not a parameter/],
    ['an inherited name', { ...JANUARY, constructor: '1' }, /^constructor is not a parameter/],
    ['api_key in the query', { ...JANUARY, api_key: 'x' }, /^api_key is not a parameter/],
  ])('400: %s', async (_, query, detail) => {
    problem(await key.list(query), 400, detail);
  });

  it.each([
    'start_date',
    'end_date',
    'user_id',
    'status',
    'withdraw_address',
    'page_size',
    'page_cursor',
    'unknown',
  ])('400: %s given twice', async (name) => {
    const { start_date, end_date } = JANUARY;
    const path = `${LIST}?start_date=${start_date}&end_date=${end_date}&${name}=1&${name}=1`;
    const { apiKey, secret } = key.credentials;
    const headers = { 'x-api-key': apiKey, 'x-signature': exchangeSignature(secret, '') };
    const response = await fetch(app.url + path, { headers });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ detail: `${name} must be given once` });
  });

  it('401 without a signature, with that of another address, and with that of another key', async () => {
    const wrong: Partial<ExchangeCall>[] = [
      { headers: { 'x-signature': '' } },
      { signs: ADDRESS },
      { query: { ...JANUARY, withdraw_address: ADDRESS }, signs: ADDRESS },
      { query: { ...JANUARY, withdraw_address: ADDRESS }, signs: OTHER_ADDRESS },
      { headers: { 'x-signature': exchangeSignature(app.exchange.signing.credentials.secret, '') } },
      { headers: { 'x-api-key': app.exchange.signing.credentials.apiKey } },
    ];
    for (const call of wrong) {
      const response = await key.call({ path: LIST, query: JANUARY, ...call });
      problem(response, 401, /signature|API key/);
      expect(response.text).not.toContain(key.credentials.secret);
    }
  });

  it('counts every status that there is', async () => {
    const counts = await Promise.all(
      ORDER_STATUSES.map(async (status) => (await page({ ...JANUARY, status })).total_count),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5);
  });

  describe('in a second process', () => {
    let second: Service;
    beforeAll(async () => {
      second = await startService({ ...app.config, roles: ['api'] });
    });
    afterAll(() => second?.close());

    it('shows and counts at once what the first has written', async () => {
      const today = new Date().toISOString().slice(0, 10);
      const there = new ExchangeClient(second.address!, app.exchange.signing.credentials);
      for (let n = 1; n <= 5; n += 1) {
        const [id] = await pastOrders(app, app.exchange.signing, [{ user_id: 'reader' }]);
        const { total_count, orders } = await page(
          { start_date: today, end_date: today, user_id: 'reader' },
          there,
        );
        expect([total_count, orders[0]!.id]).toEqual([n, id]);
      }
    });
  });
});

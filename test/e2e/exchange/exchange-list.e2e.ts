import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startService } from '../../../sandbox/service.js';
import type { Service } from '../../../src/service.js';
import { onSharedApp } from '../../support/app.js';
import { ExchangeClient } from '../../support/exchange/exchange-client.js';
import {
  ADDRESS,
  OTHER_ADDRESS,
  pastOrders,
  type OrdersPage,
} from '../../support/exchange/exchange-orders.js';
import type { ApiResponse } from '../../support/http/signed-client.js';

const JANUARY = { start_date: '2026-01-01', end_date: '2026-01-31' };

/** Responses are checked against the OpenAPI document by the client itself. */
describe('GET /v1/merchant/orders', () => {
  const app = onSharedApp();
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

  it('200: a status in any case, times without seconds and offset, and a + that arrived as a blank', async () => {
    expect((await page({ ...JANUARY, status: 'EXPIRED' })).total_count).toBe(1);
    const span = { start_date: '2026-01-02T00:00', end_date: '2026-01-03T01:00:00+01:00' };
    const { total_count } = await page(span);
    expect(total_count).toBeGreaterThan(0);
    expect((await page({ ...span, end_date: '2026-01-03T01:00:00 01:00' })).total_count).toBe(total_count);
  });

  it('200: the same orders by pages of every size, each with the count of all', async () => {
    for (const size of [2, 5]) {
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
    ['a start that is none', { ...JANUARY, start_date: '2026-02-30' }, /^start_date must be a date/],
    ['an end that is none', { ...JANUARY, end_date: '2026-01-32' }, /^end_date must be a date/],
    [
      'an end before the start',
      { start_date: '2026-01-02', end_date: '2026-01-01' },
      /^end_date must not lie before/,
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
    ['an address one letter off', { ...JANUARY, withdraw_address: `${ADDRESS}1` }, /^withdraw_address must/],
    ['a page of 0', { ...JANUARY, page_size: '0' }, /^page_size must/],
    ['a page of 1001', { ...JANUARY, page_size: '1001' }, /^page_size must/],
    ['a cursor that is none', { ...JANUARY, page_cursor: 'abc' }, /^page_cursor must/],
    ['a misspelt filter', { ...JANUARY, staus: 'paid' }, /^staus is not a parameter/],
    ['an inherited name', { ...JANUARY, constructor: '1' }, /^constructor is not a parameter/],
    ['api_key in the query', { ...JANUARY, api_key: 'x' }, /^api_key is not a parameter/],
  ])('400: %s', async (_, query, detail) => {
    problem(await key.list(query), 400, detail);
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

import { beforeAll, describe, expect, it } from '@jest/globals';
import { order } from '../../../src/contexts/exchange/domain/order.js';
import { type OrderFacts, userHash } from '../../../src/contexts/exchange/domain/order-events.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { KeyedHash } from '../../../src/platform/sealing/keyed-hash.js';
import { onSharedApp, type TestApp } from '../../support/app.js';
import { historyOf, orderFacts, type UnpublishedEvent } from '../../support/exchange/order-fixtures.js';
import { ExchangeClient } from '../../support/exchange/exchange-client.js';
import { ADDRESS, OTHER_ADDRESS, type OrdersPage } from '../../support/exchange/exchange-orders.js';
import type { ApiResponse } from '../../support/http/signed-client.js';

/** Orders of the key as if they had been created at other times; resolves to their ids. No provider has them. */
async function pastOrders(
  { app, merchant }: TestApp,
  key: ExchangeClient,
  orders: readonly (Partial<OrderFacts> & { readonly then?: UnpublishedEvent['type'] })[],
): Promise<string[]> {
  const { apiKey: key_id } = key.credentials;
  const hashes = app.get(KeyedHash, { strict: false });
  return Promise.all(
    orders.map(async ({ then, ...more }) => {
      const { user_id } = more;
      const user_hash = typeof user_id === 'string' ? userHash(hashes, key_id, user_id) : null;
      const merchant_id = merchant.credentials.apiKey;
      const created = orderFacts({ key_id, merchant_id, user_hash, ...more });
      const { order_id, created_at: at } = created;
      const end = then && ({ type: then, data: { order_id, at, refundable: '0' } } as UnpublishedEvent);
      const events = historyOf({ type: 'order.created.v1', data: created }, ...(end ? [end] : []));
      const loop = app.get(CommandLoop, { strict: false });
      await loop.execute(order, order_id, () => events, { metadata: {} });
      return order_id;
    }),
  );
}

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
      { created_at: `${day(2)}T10:30:00.000Z`, user_id: 'bob', then: 'order.cancelled.v1' },
      { created_at: `${day(2)}T10:30:00.001Z`, user_id: 'ann', withdraw_address: OTHER_ADDRESS },
      { created_at: `${day(2)}T11:00:00.000Z`, then: 'order.expired.v1' },
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
    ['to an instant, inclusive', { start_date: '2026-01-02', end_date: '2026-01-02T10:30:00Z' }, [1]],
    ['a user', { ...JANUARY, user_id: 'ann' }, [2, 0]],
    ['a status', { ...JANUARY, status: 'pending' }, [4, 2, 0]],
    ['everything', { ...JANUARY, user_id: 'ann', status: 'pending', withdraw_address: ADDRESS }, [0]],
    ['92 days', { start_date: '2025-11-01', end_date: '2026-02-01' }, [5, 4, 3, 2, 1, 0]],
  ])('200: %s', async (_, query, expected) => {
    expect(await displayed(query)).toEqual(expected);
  });

  it('200: the same orders by pages, each with the count of all', async () => {
    const seen: number[] = [];
    for (let page_cursor: string | null | undefined; page_cursor !== null;) {
      const one = await page({ ...JANUARY, page_size: '2', ...(page_cursor ? { page_cursor } : {}) });
      expect([one.total_count, one.orders.length <= 2]).toEqual([5, true]);
      seen.push(...one.orders.map(({ id }) => ids.indexOf(id)));
      page_cursor = one.next_cursor;
    }
    expect(seen).toEqual([4, 3, 2, 1, 0]);
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
    ['a start that is none', { ...JANUARY, start_date: '2026-02-30' }, /^start_date must be a date/],
    [
      'an end before the start',
      { start_date: '2026-01-02', end_date: '2026-01-01' },
      /^end_date must not lie before/,
    ],
    ['93 days', { start_date: '2025-11-01', end_date: '2026-02-02' }, /^end_date must lie at most 92 days/],
    ['a status that does not exist', { ...JANUARY, status: 'done' }, /^status must be one of/],
    ['a page of 0', { ...JANUARY, page_size: '0' }, /^page_size must/],
    ['a cursor that is none', { ...JANUARY, page_cursor: 'abc' }, /^page_cursor must/],
    ['a misspelt filter', { ...JANUARY, staus: 'paid' }, /^staus is not a parameter/],
  ])('400: %s', async (_, query, detail) => {
    problem(await key.list(query), 400, detail);
  });
});

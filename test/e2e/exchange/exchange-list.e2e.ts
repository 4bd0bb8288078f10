import { describe, expect, it } from '@jest/globals';
import { sharedApp } from '../../support/app.js';
import {
  ADDRESS,
  expectProblem,
  orderIn,
  OTHER_ADDRESS,
  type OrdersPage,
} from '../../support/exchange/exchange-orders.js';

const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
/** A day later, should the day end during the suite. */
const NOW = { start_date: daysAgo(1), end_date: daysAgo(-1) };
const JANUARY = { start_date: '2026-01-01', end_date: '2026-01-31' };

const app = await sharedApp();
const key = app.exchange.open;
const created = async (more: object): Promise<string> =>
  orderIn(await key.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS, ...more }), 201).id;
const ids = [
  await created({ user_id: 'ann' }),
  await created({ user_id: 'bob' }),
  await created({ user_id: 'ann', withdraw_address: OTHER_ADDRESS }),
];

/** Responses are checked against the OpenAPI document by the client itself. */
describe('GET /v1/merchant/orders', () => {
  const page = async (query: Record<string, string>, by = key): Promise<OrdersPage> => {
    const response = await by.list(query);
    expect([response.status, response.text.slice(0, 200)]).toEqual([200, expect.anything()]);
    return response.json();
  };
  const displayed = async (query: Record<string, string>, by = key): Promise<number[]> => {
    const { total_count, orders, next_cursor } = await page(query, by);
    expect(orders).toHaveLength(total_count);
    expect(next_cursor).toBeNull();
    return orders.map(({ id }) => ids.indexOf(id));
  };
  it.each<[string, Record<string, string>, number[]]>([
    ['all, newest first', NOW, [2, 1, 0]],
    ['everything', { ...NOW, user_id: 'ann', status: 'pending', withdraw_address: ADDRESS }, [0]],
    ['92 days', { start_date: daysAgo(91), end_date: daysAgo(0) }, [2, 1, 0]],
  ])('200: %s', async (_, query, expected) => {
    expect(await displayed(query)).toEqual(expected);
  });

  it('200: nothing of another key, of the same merchant or not', async () => {
    expect(await displayed(NOW, app.exchange.signing)).toEqual([]);
    const stranger = await app.newExchangeKey(false, app.secondMerchant.credentials.apiKey);
    expect(await displayed({ ...NOW, user_id: 'ann' }, stranger)).toEqual([]);
    const cursor = (await page({ ...NOW, page_size: '1' })).next_cursor!;
    expect(await displayed({ ...NOW, page_cursor: cursor }, stranger)).toEqual([]);
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
    const response = await key.list(query);
    expectProblem(response, 400);
    expect(response.json()['detail']).toMatch(detail);
  });
});

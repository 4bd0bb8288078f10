import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { OrderRecord } from '../../../src/contexts/exchange/domain/order-record.js';
import { onTestApp } from '../../support/app.js';
import type { ExchangeClient } from '../../support/exchange/exchange-client.js';
import {
  ADDRESS,
  callerOf,
  expectProblem,
  orderIn,
  OTHER_ADDRESS,
  pastOrders,
} from '../../support/exchange/exchange-orders.js';
import type { ApiResponse } from '../../support/http/signed-client.js';

const ORDERS = '/v1/orders';
const LEAST = { pair_id: 'USDCSOL', withdraw_address: ADDRESS };
const ACTIONS = ['refresh', 'cancel', 'mark_as_paid'] as const;

const app = onTestApp({ TRUST_PROXY: '127.0.0.1' });
let open: ExchangeClient;
let signing: ExchangeClient;

beforeAll(() => {
  ({ open, signing } = app.exchange);
});

const created = async (query: Record<string, string> = LEAST, by = signing): Promise<OrderRecord> =>
  orderIn(await by.order(query), 201);

/** Responses are checked against the OpenAPI document by the client itself. */
describe('PATCH /v1/orders/{id}/...', () => {
  it('200: refreshed, marked as paid, and marked so again', async () => {
    const order = await created();
    expect(orderIn(await signing.act(order.id, 'refresh', ADDRESS))).toEqual(order);
    const paid = orderIn(await signing.act(order.id, 'mark_as_paid', ADDRESS));
    expect(paid).toEqual({ ...order, status: 'paid', updated_at: expect.any(String) });
    expect(orderIn(await signing.act(order.id.toUpperCase(), 'mark_as_paid', ADDRESS))).toEqual(paid);
    expectProblem(await signing.act(order.id, 'cancel', ADDRESS), 409);
    expect(orderIn(await signing.act(order.id, 'refresh', ADDRESS))).toEqual(paid);
  });

  it('200: cancelled; then it can neither be paid nor cancelled again', async () => {
    const order = await created();
    const cancelled = orderIn(await signing.act(order.id, 'cancel', ADDRESS));
    expect(cancelled).toEqual({ ...order, status: 'cancelled', updated_at: expect.any(String) });
    expectProblem(await signing.act(order.id, 'cancel', ADDRESS), 409);
    expectProblem(await signing.act(order.id, 'mark_as_paid', ADDRESS), 409);
    const today = new Date().toISOString().slice(0, 10);
    const { orders } = (
      await signing.list({ start_date: today, end_date: today, status: 'cancelled' })
    ).json<{ orders: OrderRecord[] }>();
    expect(orders).toContainEqual(cancelled);
  });

  it('200: the same response again under an Idempotency-Key, also after the order has changed', async () => {
    const order = await created(LEAST);
    const key = randomUUID();
    const act = (): Promise<ApiResponse> =>
      signing.call({
        method: 'PATCH',
        path: `${ORDERS}/${order.id}/mark_as_paid`,
        signs: ADDRESS,
        idempotencyKey: key,
      });
    const first = await act();
    const again = await act();
    expect([first.status, again.text, again.headers['idempotent-replayed']]).toEqual([
      200,
      first.text,
      'true',
    ]);
  });

  it('409 for every end that an order may have', async () => {
    const ends = ['order.expired.v1', 'order.failed.v1', 'order.refunded.v1', 'order.completed.v1'] as const;
    const ids = await pastOrders(
      app,
      open,
      ends.map((end) => ({ then: [end] })),
    );
    for (const id of ids) {
      expectProblem(await open.act(id, 'mark_as_paid', ADDRESS), 409);
      expectProblem(await open.act(id, 'cancel', ADDRESS), 409);
      expect((await open.act(id, 'refresh', ADDRESS)).status).toBe(200);
    }
  });

  it.each(ACTIONS)(
    '401 of %s: a key that demands signatures, without one or with that of another address',
    async (action) => {
      const order = await created();
      const path = `${ORDERS}/${order.id}/${action}`;
      expectProblem(await signing.call({ method: 'PATCH', path, signs: null }), 401);
      expectProblem(await signing.call({ method: 'PATCH', path, signs: '' }), 401);
      // The address is the order's own: one in the query is ignored.
      const query = { withdraw_address: OTHER_ADDRESS };
      expectProblem(await signing.call({ method: 'PATCH', path, query }), 401);
      expectProblem(await signing.act(order.id, action, OTHER_ADDRESS), 401);
      expect(orderIn(await signing.act(order.id, 'refresh', ADDRESS))).toEqual(order);
      const free = await created(LEAST, open);
      expectProblem(await open.act(free.id, action, OTHER_ADDRESS), 401);
      const unsigned = await open.call({
        method: 'PATCH',
        path: `${ORDERS}/${free.id}/${action}`,
        signs: null,
      });
      expect(unsigned.status).toBe(200);
    },
  );

  it.each(ACTIONS)(
    "404 of %s: another key's order is as one that does not exist, and as an id that is none",
    async (action) => {
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
    },
  );

  it('belongs to the address that a configured proxy names, of IPv6 to the network of its subscriber', async () => {
    const newOrder = async (address: string): Promise<unknown> => {
      const headers = { 'x-forwarded-for': address };
      const response = await open.call({ method: 'POST', path: ORDERS, query: LEAST, headers });
      return callerOf(app, orderIn(response, 201));
    };
    const [one, again, mapped, other] = await Promise.all(
      ['203.0.113.7', '198.51.100.9, 203.0.113.7', '::ffff:203.0.113.7', '203.0.113.8'].map(newOrder),
    );
    expect([again, mapped]).toEqual([one, one]);
    expect(other).not.toBe(one);
    const [home, samePlace, neighbour] = await Promise.all(
      ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'].map(newOrder),
    );
    expect(samePlace).toBe(home);
    expect(neighbour).not.toBe(home);
  });

  it('404 and 405 for what is no action', async () => {
    const order = await created(LEAST, open);
    const { apiKey } = open.credentials;
    const call = (method: string, path: string): Promise<number> =>
      fetch(`${app.url}${path}?api_key=${apiKey}`, { method }).then(({ status }) => status);
    expect(await call('PATCH', `${ORDERS}/${order.id}/complete`)).toBe(404);
    expect(await call('GET', `${ORDERS}/${order.id}`)).toBe(404);
    expect(await call('POST', `${ORDERS}/${order.id}/cancel`)).toBe(405);
    expect(await call('GET', ORDERS)).toBe(405);
  });
});

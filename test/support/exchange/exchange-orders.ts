import { expect } from 'expect';
import { order } from '../../../src/contexts/exchange/domain/order.js';
import {
  type DecidedEvent,
  type OrderFacts,
  userHash,
} from '../../../src/contexts/exchange/domain/order-events.js';
import type { OrderRecord } from '../../../src/contexts/exchange/domain/order-record.js';
import { KeyedHash } from '../../../src/platform/sealing/keyed-hash.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import type { TestApp } from '../app.js';
import type { ExchangeClient } from './exchange-client.js';
import type { ApiResponse } from '../http/signed-client.js';
import { ADDRESS, historyOf, orderFacts } from './order-fixtures.js';

export { ADDRESS };
export const LIST = '/v1/merchant/orders';
export const OTHER_ADDRESS = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';

export interface OrdersPage {
  readonly total_count: number;
  readonly orders: readonly OrderRecord[];
  readonly next_cursor: string | null;
}

/** The order of a response, which holds no notice. */
export function orderIn(response: ApiResponse, status = 200): OrderRecord {
  expect([response.status, response.text]).toEqual([status, expect.anything()]);
  const body = response.json<{ readonly order: OrderRecord }>();
  expect(body).toEqual({ order: expect.anything(), compliance_notice: null });
  return body.order;
}

/** Whose the order is by the address of who created it, as it is stored. */
export async function callerOf(
  { database }: Pick<TestApp, 'database'>,
  { id }: OrderRecord,
): Promise<unknown> {
  const [event] = await database.query<{ data: string }>(
    `select data from event_store.events where stream = $1 and type = 'order.created.v1'`,
    [`order-${id}`],
  );
  return (JSON.parse(event!.data) as OrderFacts).caller;
}

/** `errors` by the names of the parameters at fault. */
export function expectProblem(response: ApiResponse, status: number, errors: object = {}): void {
  const { 'content-type': type, 'request-id': requestId } = response.headers;
  expect([response.status, type]).toEqual([status, 'application/problem+json; charset=utf-8']);
  expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(response.json()).toMatchObject({ status, errors });
}

/** Orders of the key as if they had been created at other times; resolves to their ids. No provider has them. */
export async function pastOrders(
  app: Pick<TestApp, 'app' | 'merchant'>,
  key: ExchangeClient,
  orders: readonly (Partial<OrderFacts> & { readonly then?: readonly DecidedEvent['type'][] })[],
): Promise<string[]> {
  const loop = app.app.get(CommandLoop, { strict: false });
  return Promise.all(
    orders.map(async ({ then = [], ...more }) => {
      const { apiKey: key_id } = key.credentials;
      const hash = (userId: string) => userHash(app.app.get(KeyedHash, { strict: false }), key_id, userId);
      const user = typeof more.user_id === 'string' ? { user_hash: hash(more.user_id) } : {};
      const created = orderFacts({ key_id, merchant_id: app.merchant.credentials.apiKey, ...user, ...more });
      const { order_id, created_at: at } = created;
      const following = then.map(
        (type) =>
          ({
            type,
            data: {
              order_id,
              at,
              refundable: '0',
              reason: 'none',
              amount: '0',
              amount_from: '100',
              amount_to: '0.5',
              withdraw_transaction_hash: 'none',
              refund_transaction_hash: null,
            },
          }) as DecidedEvent,
      );
      const events = historyOf({ type: 'order.created.v1', data: created }, ...following);
      await loop.execute(order, order_id, () => events, { metadata: {} });
      return order_id;
    }),
  );
}

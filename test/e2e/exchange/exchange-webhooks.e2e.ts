import { afterAll, describe, expect, it } from '@jest/globals';
import type { OrderRecord } from '../../../src/contexts/exchange/orders/order-record.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ADDRESS, orderIn } from '../../support/exchange/exchange-orders.js';
import { MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

const TYPES = ['order.completed', 'order.failed', 'order.refundable', 'order.refunded'];
const SANDBOX = '/merchants/v1/sandbox/orders';

interface Sent {
  readonly id: string;
  readonly type: string;
  readonly merchant_id: string;
  readonly data: Readonly<Record<'order_id' | 'api_key', string>> & Readonly<Record<string, unknown>>;
}

const app = await sharedApp();
const receiver = await TestReceiver.start();
const webhooks = new MerchantWebhooks(app, app.merchant);
const listing = await webhooks.register(`${receiver.url}/listing`, TYPES);
const refundable = await webhooks.register(`${receiver.url}/refundable`, ['order.refundable']);
const all = await webhooks.register(`${receiver.url}/all`);

/** Webhooks of orders that merchants and operators create, pay and refund (contract.md 13.9). */
describe('webhooks of orders', () => {
  afterAll(() => receiver?.stop());

  const newOrder = async (): Promise<OrderRecord> =>
    orderIn(await app.exchange.open.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS }), 201);
  const pay = async ({ deposit_address: to }: OrderRecord, amount: string): Promise<string> =>
    (await app.chain.transfer(to, amount)).hash;
  const until = (id: string, shows: (order: OrderRecord) => boolean): Promise<OrderRecord> =>
    eventually(async () => {
      const order = orderIn(await app.exchange.open.read(id, ADDRESS));
      return shows(order) && order;
    });
  const paidInPart = async (): Promise<OrderRecord> => {
    const order = await newOrder();
    await pay(order, '40');
    return until(order.id, ({ amount_received }) => amount_received === '40');
  };
  /** Waits for `count` verified deliveries about the order at a path. */
  const sent = (path: string, endpoint: string, { id }: OrderRecord, count: number): Promise<Sent[]> =>
    eventually(() => {
      const own = receiver.received.filter((each) => each.path === path && each.body.includes(id));
      if (own.length < count) return null;
      return own.map((each) => {
        expect(webhooks.verifies(endpoint, each)).toBe(true);
        const body = JSON.parse(each.body) as Sent;
        expect(body.id).toBe(each.headers['webhook-id']);
        expect(body.merchant_id).toBe(app.merchant.credentials.apiKey);
        return body;
      });
    });
  const sentOf = async (order: OrderRecord, count: number): Promise<readonly [string, object][]> =>
    (await sent('/listing', listing, order, count))
      .map(({ type, data: { order_id, api_key, ...more } }): [string, object] => {
        expect([order_id, api_key]).toEqual([order.id, app.exchange.open.credentials.apiKey]);
        return [type, more];
      })
      .sort(([one], [other]) => (one < other ? -1 : 1));

  it('report one failed order as order.failed and order.refundable, with separate ids', async () => {
    const order = await paidInPart();
    orderIn(await app.merchant.post(`${SANDBOX}/${order.id}/fail`));
    expect(await sentOf(order, 2)).toEqual([
      ['order.failed', { status: 'failed', amount_refundable: '40', reason: 'no_liquidity' }],
      ['order.refundable', { status: 'failed', amount_refundable: '40', cause: 'failed' }],
    ]);
    const ids = (await sent('/listing', listing, order, 2)).map(({ id }) => id);
    const [other] = await sent('/refundable', refundable, order, 1);
    expect(new Set([...ids, other!.id]).size).toBe(3);
  });

  it('contain the refund of the provider in order.refunded', async () => {
    const order = await paidInPart();
    const by = (id: string) => app.merchant.post(`${SANDBOX}/${id}/refund`);
    for (let time = 1; time <= 2; time += 1)
      expect(orderIn(await by(order.id))).toMatchObject({ status: 'refunded', amount_refundable: '0' });
    const { refund_transaction_hash } = orderIn(await app.exchange.open.read(order.id, ADDRESS));
    expect(refund_transaction_hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await sentOf(order, 1)).toEqual([
      [
        'order.refunded',
        { status: 'refunded', amount_refundable: '0', amount: '40', refund_transaction_hash },
      ],
    ]);
    expect((await by((await newOrder()).id)).status).toBe(409);
    expect((await app.secondMerchant.post(`${SANDBOX}/${order.id}/refund`)).status).toBe(404);
  });

  it('are sent only to endpoints that list their types, even if a PATCH added or removed the types', async () => {
    expect((await webhooks.list(all)).webhook_deliveries).toEqual([]);
    const failed = async (): Promise<OrderRecord> => {
      const order = await newOrder();
      return orderIn(await app.merchant.post(`${SANDBOX}/${order.id}/fail`));
    };
    await webhooks.change(all, { event_types: ['order.failed'] });
    const first = await failed();
    expect(await sent('/all', all, first, 1)).toMatchObject([
      { type: 'order.failed', data: { order_id: first.id } },
    ]);
    await webhooks.change(all, { event_types: null });
    await sentOf(await failed(), 1);
    expect(await webhooks.settled(all, 1)).toMatchObject([{ type: 'order.failed' }]);
  });
});

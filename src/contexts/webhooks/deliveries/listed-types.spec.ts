import { beforeEach, describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { WebhookHistory } from '../../../../test/support/webhooks/webhook-history.js';
import { ALL_CONTEXTS } from '../../../composition.js';
import { deriveId, newId } from '../../../kernel/ids.js';
import type { JsonObject, RecordedEvent } from '../../../platform/event-store/port.js';
import { deliveriesSaga } from './deliveries.saga.js';
import { publishedBy } from './published-events.service.js';

const saga = deliveriesSaga(
  publishedBy(ALL_CONTEXTS),
  () => undefined,
  () => 'mac',
);
const at = '2026-01-01T00:00:00.000Z';
const order = { order_id: 'o', key_id: 'k', at, status: 'failed', amount_refundable: '40' };

const db = onTestDatabase();
let history: WebhookHistory;

beforeEach(() => {
  history = new WebhookHistory();
});

const event = (type: string, data: JsonObject) => history.event(type, data);
const registered = (id: string, types: string[] | null = null) => history.registered(id, types);
const handle = (...events: RecordedEvent[]): Promise<void> =>
  db.database.transaction((tx) => saga.apply(events, tx));
const deliveries = () =>
  db.database.query<Record<'delivery_id' | 'endpoint_id' | 'type' | 'body' | 'state', string>>(
    'select delivery_id, endpoint_id, type, body, state from webhooks.deliveries where merchant_id = $1',
    [history.merchant],
  );

describe('deliveries of types that have to be listed', () => {
  it('are created only for endpoints that list them', async () => {
    const all = newId();
    const listing = newId();
    await handle(registered(all), registered(listing, ['order.completed', 'payout.received']));
    await handle(event('order.completed.v1', order), history.received());
    const typesOf = async (id: string) =>
      (await deliveries()).flatMap((row) => (row.endpoint_id === id ? [row.type] : [])).sort();
    expect(await typesOf(all)).toEqual(['payout.received']);
    expect(await typesOf(listing)).toEqual(['order.completed', 'payout.received']);
  });

  it('are one for each type of an event, the same ones for a repeated event', async () => {
    const endpoint = newId();
    const few = newId();
    const events = [
      registered(endpoint, ['order.failed', 'order.refundable']),
      registered(few, ['order.refundable']),
      event('order.failed.v1', { ...order, reason: 'no_liquidity', refundable: '40' }),
    ];
    const failed = events[2]!;
    await handle(...events, failed);
    const once = await deliveries();
    const idsOf = (id: string, ...types: string[]) => types.map((type) => deriveId(failed.id, id, type));
    expect(once.map((row) => row.delivery_id).sort()).toEqual(
      [...idsOf(endpoint, 'order.failed', 'order.refundable'), ...idsOf(few, 'order.refundable')].sort(),
    );
    const about = '"order_id":"o","api_key":"k","status":"failed","amount_refundable":"40"';
    for (const { delivery_id: id, type, body } of once) {
      const last = type === 'order.failed' ? '"reason":"no_liquidity"' : '"cause":"failed"';
      expect(body).toBe(
        `{"id":"${id}","type":"${type}","occurred_at":"${at}","merchant_id":"${history.merchant}","data":{${about},${last}}}`,
      );
    }
    await handle(...events);
    expect(await deliveries()).toEqual(once);
  });

  it('are none for an event without published content', async () => {
    const none = { ...order, amount_refundable: '0', refundable: '0' };
    await handle(registered(newId(), ['order.refundable']), event('order.cancelled.v1', none));
    expect(await deliveries()).toEqual([]);
  });
});

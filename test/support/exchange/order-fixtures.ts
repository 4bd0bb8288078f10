import { randomUUID } from 'node:crypto';
import {
  existingOrder,
  order,
  withPublishedState,
  type ExistingOrder,
  type OrderState,
} from '../../../src/contexts/exchange/orders/order.js';
import type {
  LaterOrderEvent,
  OrderEvent,
  OrderEventOf,
  OrderFacts,
} from '../../../src/contexts/exchange/orders/order-events.js';
import { orderRecord } from '../../../src/contexts/exchange/orders/order-record.js';
import { observe, type Observation } from '../../../src/contexts/exchange/watch/observation.js';
import { fold } from '../../../src/kernel/aggregate.js';
import { deriveId } from '../../../src/kernel/ids.js';
import type { JsonObject, RecordedEvent } from '../../../src/platform/event-store/port.js';
import { givenOf } from '../given.js';

export const ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';

export function orderFacts(more: Partial<OrderFacts>): OrderFacts {
  const at = more.created_at ?? new Date().toISOString();
  return {
    order_id: randomUUID(),
    key_id: randomUUID(),
    merchant_id: randomUUID(),
    pair_id: 'USDCSOL',
    withdraw_address: ADDRESS,
    withdraw_address_tag: null,
    withdraw_address_memo: null,
    user_id: null,
    user_hash: null,
    caller: null,
    provider: 'none',
    provider_reference: 'none',
    deposit_address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
    deposit_address_tag: null,
    amount_from: '100',
    amount_to: '0.5',
    rate: '0.005',
    minimum: '10',
    maximum: '1000',
    decimals_to: 9,
    created_at: at,
    expires_at: new Date(Date.parse(at) + 3_600_000).toISOString(),
    ...more,
  };
}

/** An order of 100 for 0.5, of an hour, and the events of its life. */
export const facts = orderFacts({
  order_id: 'o1',
  key_id: 'k1',
  merchant_id: 'm1',
  withdraw_address: '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV',
  user_id: 'u1',
  user_hash: 'hash of u1',
  provider: 'sandbox',
  provider_reference: 'r1',
  created_at: '2026-01-01T12:00:00.000Z',
});
/** Minutes after the order was created. */
export const minute = (minutes: number): string =>
  new Date(Date.parse(facts.created_at) + minutes * 60_000).toISOString();
export const at = minute(10);
export const DAY = 24 * 60;

/** An event of a history without the webhooks' data of the order, which {@link historyOf} adds. */
type OrderCreated = OrderEventOf<'order.created.v1'>;
export type UnpublishedEvent = OrderCreated | LaterOrderEvent;

export const created: OrderCreated = { type: 'order.created.v1', data: facts };
export const base = { order_id: 'o1', at };
export const paid: LaterOrderEvent = {
  type: 'order.marked_as_paid.v1',
  data: { ...base, waits_until: minute(10 + DAY) },
};
export const cancelled: LaterOrderEvent = { type: 'order.cancelled.v1', data: { ...base, refundable: '0' } };
export const expired: LaterOrderEvent = { type: 'order.expired.v1', data: base };

export type Seen = Observation['deposits'][number];
export const deposit = (id: string, amount: string, when = minute(5)): Seen => ({
  deposit_id: id,
  amount,
  transaction_hash: `0x${id}`,
  deposited_at: when,
});
const factsOf = (seen: Seen, when = at) => ({ order_id: 'o1', ...seen, at: when });
export const received = (seen: Seen, when = at): LaterOrderEvent => ({
  type: 'order.deposit_received.v1',
  data: factsOf(seen, when),
});
export const late = (seen: Seen, when = at): LaterOrderEvent => ({
  type: 'order.late_deposit_recorded.v1',
  data: factsOf(seen, when),
});
export const processing = (
  amount_from: string,
  amount_to: string,
  refundable = '0',
  when = at,
): LaterOrderEvent => ({
  type: 'order.processing_started.v1',
  data: { order_id: 'o1', amount_from, amount_to, refundable, at: when },
});
export const failed = (reason: string, refundable: string, when: string): LaterOrderEvent => ({
  type: 'order.failed.v1',
  data: { order_id: 'o1', reason, refundable, at: when },
});

export const observing =
  (seen: Partial<Observation>) =>
  (state: OrderState): OrderEvent[] => {
    const now = seen.at ?? at;
    return observe(
      { deposits: [], isDepositPending: false, completeUntil: now, outcome: null, ...seen, at: now },
      state,
    );
  };
export const recordedOf = ({ type, data }: UnpublishedEvent, revision = 0): RecordedEvent => ({
  id: deriveId(data.order_id, String(revision)),
  type,
  data: data as unknown as JsonObject,
  metadata: { request_id: 'req-1' },
  stream: `order-${data.order_id}`,
  revision,
  position: '1',
  recordedAt: new Date(),
});
export function historyOf(...events: readonly UnpublishedEvent[]): OrderEvent[] {
  let state = order.initial;
  return events.map((each) => {
    const event = each.type === 'order.created.v1' ? each : withPublishedState(each, existingOrder(state));
    state = order.evolve(state, event);
    return event;
  });
}
export const stateAfter = (...events: readonly UnpublishedEvent[]): ExistingOrder =>
  fold(order, historyOf(...events)) as ExistingOrder;
export const recordAfter = (...events: readonly UnpublishedEvent[]) => orderRecord(stateAfter(...events));

/** The spec of an order. Expected events are completed as by {@link historyOf}; published.spec.ts has them in full. */
export const given = (...before: readonly UnpublishedEvent[]) => ({
  when(decide: (state: OrderState) => readonly OrderEvent[]) {
    const decided = givenOf(order)(...historyOf(...before)).when(decide);
    return {
      ...decided,
      then: (...events: readonly UnpublishedEvent[]) =>
        decided.then(...historyOf(...before, ...events).slice(before.length)),
    };
  },
});

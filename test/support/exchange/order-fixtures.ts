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

/** Addresses of Solana without a known owner. */
export const ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
export const OTHER_ADDRESS = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';

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

/** An order of 100 for 0.5 with a validity of one hour, and the events of its life. */
export const facts = orderFacts({
  order_id: 'o1',
  key_id: 'k1',
  merchant_id: 'm1',
  withdraw_address: OTHER_ADDRESS,
  user_id: 'u1',
  user_hash: 'hash of u1',
  provider: 'sandbox',
  provider_reference: 'r1',
  created_at: '2026-01-01T12:00:00.000Z',
});
/** Returns a time `minutes` after the creation of the order. */
export const minute = (minutes: number): string =>
  new Date(Date.parse(facts.created_at) + minutes * 60_000).toISOString();
export const at = minute(10);
export const DAY = 24 * 60;

/** An event without the data of the order for webhooks, which `historyOf` adds. */
type OrderCreated = OrderEventOf<'order.created.v1'>;
export type UnpublishedEvent = OrderCreated | LaterOrderEvent;

type Name = LaterOrderEvent['type'] extends `order.${infer Named}.v1` ? Named : never;
type DataOf<Named extends Name> = Extract<LaterOrderEvent, { type: `order.${Named}.v1` }>['data'];

export const event = <Named extends Name>(
  name: Named,
  data: Omit<DataOf<Named>, 'order_id' | 'at'>,
  when = at,
): LaterOrderEvent =>
  ({ type: `order.${name}.v1`, data: { order_id: 'o1', ...data, at: when } }) as LaterOrderEvent;

export const created: OrderCreated = { type: 'order.created.v1', data: facts };
export const paid = event('marked_as_paid', { waits_until: minute(10 + DAY) });
export const cancelled = event('cancelled', { refundable: '0' });
export const expired = event('expired', {});
export const erased = event('personal_data_erased', { key_id: facts.key_id, actor: 'ops' });

export type Seen = Observation['deposits'][number];
export const deposit = (id: string, amount: string, when = minute(5)): Seen => ({
  deposit_id: id,
  amount,
  transaction_hash: `0x${id}`,
  deposited_at: when,
});
export const received = (seen: Seen, when = at) => event('deposit_received', seen, when);
export const late = (seen: Seen, when = at) => event('late_deposit_recorded', seen, when);
export const missing = ({ deposit_id, amount, transaction_hash }: Seen) =>
  event('deposit_missing', { deposit_id, amount, transaction_hash });
export const processing = (amount_from: string, amount_to: string, refundable = '0', when = at) =>
  event('processing_started', { amount_from, amount_to, refundable }, when);
export const completed = (amount_to = '0.5', amount_from = '100') =>
  event('completed', { amount_from, amount_to, withdraw_transaction_hash: '0xout' });
export const failed = (reason: string, refundable: string, when = at) =>
  event('failed', { reason, refundable }, when);
export const refunded = (amount: string, refund_transaction_hash: string | null = null) =>
  event('refunded', { amount, refund_transaction_hash });
export const refund = (amount: string, transaction_hash = '0xr') =>
  event('refund_recorded', { amount, transaction_hash, actor: 'ops' });
export const dust = (amount: string, count = Number(amount), when = at) =>
  event('dust_recorded', { count, amount }, when);
export const lateOutcome = (outcome: 'completed' | 'refunded', transaction_hash = '0xlate') =>
  event('late_outcome_recorded', { outcome, transaction_hash });

export const observing =
  (seen: Partial<Observation>) =>
  (state: OrderState): OrderEvent[] => {
    const now = seen.at ?? at;
    return observe(
      { deposits: [], isDepositPending: false, completeUntil: now, outcome: null, ...seen, at: now },
      state,
    );
  };
export const seeing = (...deposits: readonly Seen[]) => observing({ deposits });
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
    const full = each.type === 'order.created.v1' ? each : withPublishedState(each, existingOrder(state));
    state = order.evolve(state, full);
    return full;
  });
}
export const stateAfter = (...events: readonly UnpublishedEvent[]): ExistingOrder =>
  fold(order, historyOf(...events)) as ExistingOrder;
export const recordAfter = (...events: readonly UnpublishedEvent[]) => orderRecord(stateAfter(...events));

/** The spec of an order. `historyOf` completes expected events (in full in exchange.webhooks.spec.ts). */
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

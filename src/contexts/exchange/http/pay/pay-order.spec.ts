import { expect, it } from '@jest/globals';
import type { OrderEvent, OrderFacts } from '../../domain/order-events.js';
import { order, type ExistingOrder, type Order } from '../../domain/order.js';
import { payOrder } from './pay-order.js';

const ids = { order_id: 'o', at: '2026-01-01T00:00:00.000Z' };
const deposit = (deposit_id: string, amount: string) => ({
  deposit_id,
  amount,
  transaction_hash: `hash of ${deposit_id}`,
  deposited_at: ids.at,
});
const created: OrderEvent = {
  type: 'order.created.v1',
  data: { order_id: 'o', amount_from: '100', amount_to: '0.5', created_at: ids.at } as OrderFacts,
};
const after = (...events: OrderEvent[]): ExistingOrder =>
  [created, ...events].reduce<Order>(
    (state, event) => order.evolve(state, event),
    order.initial,
  ) as ExistingOrder;
const received = (id: string, amount: string): OrderEvent =>
  ({ type: 'order.deposit_received.v1', data: { ...ids, ...deposit(id, amount) } }) as OrderEvent;

it('the pay page lists every transaction of an order: deposits, late ones, the payout, and refunds by operators', () => {
  const state = after(
    received('a', '40'),
    received('b', '60.5'),
    {
      type: 'order.processing_started.v1',
      data: { ...ids, amount_from: '100', amount_to: '0.5', refundable: '0.5' },
    },
    {
      type: 'order.completed.v1',
      data: { ...ids, amount_to: '0.5', withdraw_transaction_hash: 'hash of payout' },
    },
    { type: 'order.late_deposit_recorded.v1', data: { ...ids, ...deposit('c', '7') } } as OrderEvent,
    {
      type: 'order.refund_recorded.v1',
      data: { ...ids, amount: '7.5', transaction_hash: 'hash of refund', actor: 'operator' },
    },
  );
  expect(payOrder(state, 1).transfers).toEqual([
    { kind: 'deposit', amount: '40', hash: 'hash of a' },
    { kind: 'deposit', amount: '60.5', hash: 'hash of b' },
    { kind: 'late', amount: '7', hash: 'hash of c' },
    { kind: 'payout', amount: '0.5', hash: 'hash of payout' },
    { kind: 'refund', amount: '7.5', hash: 'hash of refund' },
  ]);
});

it('the pay page lists the refund of a provider that names its transaction', () => {
  const refunded = (refund_transaction_hash: string | null): OrderEvent => ({
    type: 'order.refunded.v1',
    data: { ...ids, amount: '100', refund_transaction_hash },
  });
  expect(payOrder(after(received('a', '100'), refunded('hash of refund')), 1).transfers).toEqual([
    { kind: 'deposit', amount: '100', hash: 'hash of a' },
    { kind: 'refund', amount: '100', hash: 'hash of refund' },
  ]);
  expect(payOrder(after(received('a', '100'), refunded(null)), 1).transfers).toHaveLength(1);
});

it('the pay page shows what is missing of an order, and nothing below zero', () => {
  expect(payOrder(after(), 1).missing).toBe('100');
  expect(payOrder(after(received('a', '40.25')), 1).missing).toBe('59.75');
  expect(payOrder(after(received('a', '101')), 1).missing).toBe('0');
});

import { expect, it } from '@jest/globals';
import {
  base,
  created,
  deposit,
  late,
  processing,
  received,
  stateAfter,
} from '../../../../test/support/exchange/order-fixtures.js';
import type { LaterOrderEvent } from '../orders/order-events.js';
import { payOrder } from './pay-page.controller.js';

it('the pay page lists every transaction of an order: deposits, late ones, the payout, and refunds by operators', () => {
  const state = stateAfter(
    created,
    received(deposit('a', '40')),
    received(deposit('b', '60.5')),
    processing('100', '0.5', '0.5'),
    {
      type: 'order.completed.v1',
      data: { ...base, amount_from: '100', amount_to: '0.5', withdraw_transaction_hash: '0xpayout' },
    },
    late(deposit('c', '7')),
    {
      type: 'order.refund_recorded.v1',
      data: { ...base, amount: '7.5', transaction_hash: '0xrefund', actor: 'operator' },
    },
  );
  expect(payOrder(state, 1).transfers).toEqual([
    { kind: 'deposit', amount: '40', hash: '0xa' },
    { kind: 'deposit', amount: '60.5', hash: '0xb' },
    { kind: 'late', amount: '7', hash: '0xc' },
    { kind: 'payout', amount: '0.5', hash: '0xpayout' },
    { kind: 'refund', amount: '7.5', hash: '0xrefund' },
  ]);
});

it('the pay page lists the refund of a provider that names its transaction', () => {
  const refunded = (refund_transaction_hash: string | null): LaterOrderEvent => ({
    type: 'order.refunded.v1',
    data: { ...base, amount: '100', refund_transaction_hash },
  });
  expect(
    payOrder(stateAfter(created, received(deposit('a', '100')), refunded('0xrefund')), 1).transfers,
  ).toEqual([
    { kind: 'deposit', amount: '100', hash: '0xa' },
    { kind: 'refund', amount: '100', hash: '0xrefund' },
  ]);
  expect(
    payOrder(stateAfter(created, received(deposit('a', '100')), refunded(null)), 1).transfers,
  ).toHaveLength(1);
});

it('the pay page displays the missing amount of an order, which is never negative', () => {
  expect(payOrder(stateAfter(created), 1).missing).toBe('100');
  expect(payOrder(stateAfter(created, received(deposit('a', '40.25'))), 1).missing).toBe('59.75');
  expect(payOrder(stateAfter(created, received(deposit('a', '101'))), 1).missing).toBe('0');
});

import { expect, it } from '@jest/globals';
import {
  deposit,
  facts,
  late,
  created,
  processing,
  received,
  stateAfter,
} from '../../../../test/support/exchange/order-fixtures.js';
import { listedOrder, orderRecord, orderResponse } from './order-record.js';

it('the record of an order has its terms, its amounts and the transaction of its newest deposit', () => {
  const [first, second] = [deposit('a', '40'), deposit('b', '70')];
  const state = stateAfter(
    created,
    received(first),
    received(second),
    processing('100', '0.5', '10'),
    late(deposit('c', '5')),
  );
  expect(orderRecord(state)).toEqual({
    id: 'o1',
    pair_id: 'USDCSOL',
    status: 'processing',
    reason: null,
    user_id: 'u1',
    withdraw_address: facts.withdraw_address,
    withdraw_address_tag: null,
    withdraw_address_memo: null,
    deposit_address: facts.deposit_address,
    deposit_address_tag: null,
    amount_from: '100',
    amount_to: '0.5',
    amount_received: '110',
    amount_refundable: '15',
    rate: '0.005',
    minimum: '10',
    maximum: '1000',
    deposit_transaction_hash: '0xb',
    withdraw_transaction_hash: null,
    late_deposits: [{ amount: '5', transaction_hash: '0xc', deposited_at: deposit('c', '5').deposited_at }],
    waits_until: null,
    refunds: [],
    refund_transaction_hash: null,
    created_at: facts.created_at,
    updated_at: state.updated_at,
    expires_at: facts.expires_at,
  });
  expect(orderRecord(stateAfter(created, received(first))).deposit_transaction_hash).toBe('0xa');
  expect(orderRecord(stateAfter(created))).toMatchObject({
    deposit_transaction_hash: null,
    late_deposits: [],
  });
  expect(JSON.parse(orderResponse(state, 'notice'))).toEqual({
    order: orderRecord(state),
    compliance_notice: 'notice',
  });
});

it('the record of an order lists the newest fifty late deposits', () => {
  const deposits = Array.from({ length: 51 }, (_, n) => late(deposit(`d${n}`, '1')));
  const { late_deposits, amount_refundable } = orderRecord(stateAfter(created, ...deposits));
  expect([late_deposits.length, late_deposits[0]!.transaction_hash, amount_refundable]).toEqual([
    50,
    '0xd1',
    '51',
  ]);
});

it('a listed order also has its merchant, its key and the counted deposits', () => {
  const state = stateAfter(created, received(deposit('a', '40')), received(deposit('b', '60')));
  expect(listedOrder(state)).toEqual({
    ...orderRecord(state),
    merchant_id: facts.merchant_id,
    api_key: facts.key_id,
    deposits: [
      { amount: '40', transaction_hash: '0xa', deposited_at: deposit('a', '40').deposited_at },
      { amount: '60', transaction_hash: '0xb', deposited_at: deposit('b', '60').deposited_at },
    ],
  });
});

import { expect, it } from '@jest/globals';
import {
  created,
  deposit,
  facts,
  late,
  processing,
  received,
  stateAfter,
} from '../../../../test/support/exchange/order-fixtures.js';
import { listedOrder, orderRecord, orderResponse } from './order-record.js';

const [first, second, lateOne] = [deposit('a', '40'), deposit('b', '70'), deposit('c', '5')];
const paid = [created, received(first), received(second), processing('100', '0.5', '10')] as const;
const jsonOf = ({ amount, transaction_hash, deposited_at }: typeof first) => {
  return { amount, transaction_hash, deposited_at };
};

/** exchange-orders.e2e.ts has all members. */
it('the record of an order contains its amounts and the transaction of its newest deposit', () => {
  const state = stateAfter(...paid, late(lateOne));
  expect(orderRecord(state)).toMatchObject({
    id: 'o1',
    status: 'processing',
    amount_from: '100',
    amount_received: '110',
    amount_refundable: '15',
    deposit_transaction_hash: '0xb',
    late_deposits: [jsonOf(lateOne)],
    created_at: facts.created_at,
  });
  expect(orderRecord(stateAfter(created)).deposit_transaction_hash).toBeNull();
  const body = { order: orderRecord(state), compliance_notice: 'notice' };
  expect(JSON.parse(orderResponse(state, 'notice'))).toEqual(body);
});

it('the record of an order lists its newest fifty late deposits', () => {
  const deposits = Array.from({ length: 51 }, (_, n) => late(deposit(`d${n}`, '1')));
  const { late_deposits, amount_refundable } = orderRecord(stateAfter(created, ...deposits));
  const found = [late_deposits.length, late_deposits[0]!.transaction_hash, amount_refundable];
  expect(found).toEqual([50, '0xd1', '51']);
});

it('an order in the list for operators also contains its merchant, its key and the counted deposits', () => {
  const state = stateAfter(...paid);
  expect(listedOrder(state)).toEqual({
    ...orderRecord(state),
    merchant_id: facts.merchant_id,
    api_key: facts.key_id,
    deposits: [jsonOf(first), jsonOf(second)],
  });
});

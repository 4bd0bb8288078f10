import { describe, expect, it } from '@jest/globals';
import {
  minute,
  at,
  DAY,
  created,
  base,
  paid,
  cancelled,
  expired,
  deposit,
  received,
  late,
  processing,
  failed,
  observing,
  facts,
  recordAfter,
  given,
} from '../../../../test/support/exchange/order-fixtures.js';
import type { LaterOrderEvent, OrderEventOf } from '../orders/order-events.js';

describe('deposits', () => {
  const [a, b] = [deposit('a', '60'), deposit('b', '40', minute(6))];
  const exact = deposit('a', '100');

  it('of exactly the requested amount are exchanged for the quoted amount_to', () =>
    given(created)
      .when(observing({ deposits: [exact] }))
      .then(received(exact), processing('100', '0.5')));

  it('of exactly the requested amount are exchanged for the quoted amount, even if that is not amount times rate', () => {
    const quoted: OrderEventOf<'order.created.v1'> = {
      type: 'order.created.v1',
      data: { ...facts, amount_to: '0.499' },
    };
    given(quoted)
      .when(observing({ deposits: [exact] }))
      .then(received(exact), processing('100', '0.499'));
  });

  it('of more than requested are exchanged at the rate of the order, rounded down', () => {
    const more = deposit('a', '100.333333333333');
    given(created)
      .when(observing({ deposits: [more] }))
      .then(received(more), processing('100.333333333333', '0.501666666'));
  });

  it('are exchanged up to the maximum of the pair, and the rest is refundable', () => {
    const most = deposit('a', '1000.5');
    const events = [received(most), processing('1000', '5', '0.5')];
    given(created)
      .when(observing({ deposits: [most] }))
      .then(...events);
    expect(recordAfter(created, ...events)).toMatchObject({
      amount_received: '1000.5',
      amount_refundable: '0.5',
    });
  });

  it('of less than requested are not exchanged, and may be topped up', () => {
    given(created)
      .when(observing({ deposits: [a] }))
      .then(received(a));
    expect(recordAfter(created, received(a))).toMatchObject({
      status: 'pending',
      amount_from: '100',
      amount_received: '60',
      amount_refundable: '0',
    });
    given(created, received(a))
      .when(observing({ deposits: [a, b] }))
      .then(received(b), processing('100', '0.5'));
  });

  it('of 0.5 of 100 USDC are recorded one by one up to the twentieth, the next ones as a sum', () => {
    const small = Array.from({ length: 20 }, (_, n) => deposit(`small${n}`, '0.5'));
    given(created, ...small.slice(0, 19).map((each) => received(each)))
      .when(observing({ deposits: small }))
      .then(received(small[19]!));
    given(created, ...small.map((each) => received(each)))
      .when(observing({ deposits: [...small, deposit('next', '0.5')] }))
      .then({ type: 'order.dust_recorded.v1', data: { order_id: 'o1', amount: '0.5', count: 1, at } });
  });

  it('of zero are ignored', () =>
    given(created)
      .when(observing({ deposits: [deposit('z', '0')] }))
      .then());

  it('after the one that is exchanged are late, even in the same poll', () =>
    given(created)
      .when(observing({ deposits: [exact, b] }))
      .then(received(exact), processing('100', '0.5'), late(b)));

  it('after a cancellation are late and refundable', () => {
    given(created, cancelled)
      .when(observing({ deposits: [exact] }))
      .then(late(exact));
    const record = recordAfter(created, cancelled, late(exact));
    expect(record).toMatchObject({ status: 'cancelled', amount_received: '0', amount_refundable: '100' });
    expect(record.late_deposits).toEqual([
      { amount: '100', transaction_hash: '0xa', deposited_at: exact.deposited_at },
    ]);
  });

  it('count when their block is in time, even if they are observed after the end', () => {
    const last = deposit('a', '100', minute(60));
    given(created)
      .when(observing({ deposits: [last], at: minute(90) }))
      .then(received(last, minute(90)), processing('100', '0.5', '0', minute(90)));
  });

  it('are late when their block is past the end, even if the end is not recorded yet', () => {
    const after = deposit('a', '100', minute(60.01));
    given(created)
      .when(observing({ deposits: [after], completeUntil: null, at: minute(61) }))
      .then(late(after, minute(61)));
    given(created)
      .when(observing({ deposits: [after], at: minute(61) }))
      .then(late(after, minute(61)), { type: 'order.expired.v1', data: { order_id: 'o1', at: minute(61) } });
  });

  it('count for a day after the order was marked as paid, at its rate', () => {
    const last = deposit('a', '100', minute(10 + DAY));
    given(created, paid)
      .when(observing({ deposits: [last], at: minute(11 + DAY) }))
      .then(received(last, minute(11 + DAY)), processing('100', '0.5', '0', minute(11 + DAY)));
  });
});

describe('the end of an order', () => {
  const later = minute(60.01);

  it('does not come before its time', () =>
    given(created)
      .when(observing({ at: minute(60) }))
      .then());
  it('comes when no deposit arrived', () =>
    given(created)
      .when(observing({ at: later }))
      .then({ type: 'order.expired.v1', data: { order_id: 'o1', at: later } }));
  it('waits until the provider has reported all deposits up to it', () => {
    given(created)
      .when(observing({ at: later, completeUntil: null }))
      .then();
    given(created)
      .when(observing({ at: later, completeUntil: minute(60) }))
      .then();
  });
  it('waits for a transfer without confirmations, for a limited time', () => {
    given(created)
      .when(observing({ at: later, isDepositPending: true }))
      .then();
    given(created)
      .when(observing({ at: minute(60 + DAY), isDepositPending: true }))
      .then({ type: 'order.expired.v1', data: { order_id: 'o1', at: minute(60 + DAY) } });
  });
  it("waits up to 24 h for a transfer without confirmations, measured by the provider's time", () =>
    given(created)
      .when(observing({ at: minute(60 + 25 * 60), completeUntil: minute(60 + 60), isDepositPending: true }))
      .then());
  it('is a failure with insufficient deposits, which are refundable, marked as paid or not', () => {
    const part = received(deposit('a', '40'));
    given(created, part)
      .when(observing({ at: later }))
      .then(failed('deposit_too_low', '40', later));
    given(created, paid, part)
      .when(observing({ at: later }))
      .then(failed('deposit_too_low', '40', later));
    expect(recordAfter(created, part, failed('deposit_too_low', '40', later))).toMatchObject({
      status: 'failed',
      reason: 'deposit_too_low',
      amount_refundable: '40',
    });
  });
  it('is a failure a day after the mark as paid, without a deposit', () => {
    given(created, paid)
      .when(observing({ at: minute(10 + DAY) }))
      .then();
    given(created, paid)
      .when(observing({ at: minute(11 + DAY) }))
      .then(failed('no_deposit', '0', minute(11 + DAY)));
  });
});

describe('the outcome of the provider', () => {
  const exact = received(deposit('a', '100'));
  const done = { kind: 'completed', transactionHash: '0xout', amountTo: null } as const;
  const back = { kind: 'refunded', transactionHash: '0xback' } as const;
  const completed = (amount_to: string, amount_from = '100'): LaterOrderEvent => ({
    type: 'order.completed.v1',
    data: { ...base, amount_from, amount_to, withdraw_transaction_hash: '0xout' },
  });

  it('completes an order with the paid amount', () => {
    given(created, exact, processing('100', '0.5'))
      .when(observing({ outcome: done }))
      .then(completed('0.5'));
    given(created, exact, processing('100', '0.5'))
      .when(observing({ outcome: { ...done, amountTo: '0.49' } }))
      .then(completed('0.49'));
  });
  it('may arrive with the deposit', () =>
    given(created)
      .when(observing({ deposits: [deposit('a', '100')], outcome: done }))
      .then(exact, processing('100', '0.5'), completed('0.5')));
  it('completes an order with less than requested, when the provider exchanges it', () =>
    given(created)
      .when(observing({ deposits: [deposit('a', '40')], outcome: done }))
      .then(received(deposit('a', '40')), processing('40', '0.2'), completed('0.2', '40')));
  it('is ignored until its deposit is reported, and the order waits for the deposit', () => {
    for (const outcome of [done, back])
      given(created)
        .when(observing({ outcome, at: minute(70) }))
        .then();
  });
  it('is ignored for an order whose deposit has the transaction of another order: the order fails, and its other deposits are refundable', () => {
    const seen = { hasForeignDeposit: true, outcome: done };
    const other = 'deposit_of_another_order';
    given(created)
      .when(observing(seen))
      .then(failed(other, '0', at));
    const part = deposit('a', '40');
    given(created, paid)
      .when(observing({ ...seen, deposits: [part] }))
      .then(received(part), failed(other, '40', at));
    given(created, exact, processing('100', '0.5')).when(observing(seen)).then(completed('0.5'));
    given(created, failed(other, '0', at))
      .when(observing(seen))
      .then({
        type: 'order.late_outcome_recorded.v1',
        data: { ...base, outcome: 'completed', transaction_hash: '0xout' },
      });
  });
  it('refunds all deposits, or fails with all deposits refundable', () => {
    given(created, exact, processing('90', '0.45', '10'))
      .when(observing({ outcome: back }))
      .then({
        type: 'order.refunded.v1',
        data: { ...base, amount: '100', refund_transaction_hash: '0xback' },
      });
    given(created, exact, processing('90', '0.45', '10'))
      .when(observing({ outcome: { kind: 'failed', reason: 'no liquidity' } }))
      .then(failed('no liquidity', '100', at));
  });
  it('has a reason only for a failure', () => {
    expect(recordAfter(created, exact, processing('100', '0.5'), completed('0.5')).reason).toBeNull();
    expect(recordAfter(created, failed('no liquidity', '0', at)).reason).toBe('no liquidity');
  });
  it('is recorded once for each kind after the order has ended here, and changes neither status nor amounts', () => {
    const [expiredThen, lateOne] = [expired, late(deposit('a', '100'))];
    const afterwards = (outcome: 'completed' | 'refunded', transaction_hash: string): LaterOrderEvent => ({
      type: 'order.late_outcome_recorded.v1',
      data: { ...base, outcome, transaction_hash },
    });
    const reported = [afterwards('completed', '0xout'), afterwards('refunded', '0xback')];
    given(created, expiredThen)
      .when(observing({ outcome: done }))
      .then(reported[0]!);
    given(created, expiredThen, ...reported)
      .when(observing({ outcome: done }))
      .then();
    given(created, expiredThen)
      .when(observing({ outcome: { kind: 'failed', reason: 'x' } }))
      .then();
    expect(recordAfter(created, expiredThen, lateOne, ...reported)).toMatchObject({
      status: 'expired',
      amount_refundable: '100',
    });
  });
});

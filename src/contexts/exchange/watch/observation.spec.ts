import { describe, expect, it } from '@jest/globals';
import {
  at,
  cancelled,
  completed,
  created,
  DAY,
  deposit,
  dust,
  event,
  expired,
  facts,
  failed,
  given,
  late,
  lateOutcome,
  minute,
  observing,
  paid,
  processing,
  received,
  recordAfter,
  refunded,
  seeing,
} from '../../../../test/support/exchange/order-fixtures.js';
import type { OrderEventOf } from '../orders/order-events.js';

const expiredAt = (when: string) => event('expired', {}, when);

describe('a deposit', () => {
  const [a, b] = [deposit('a', '60'), deposit('b', '40', minute(6))];
  const exact = deposit('a', '100');

  it('of exactly the requested amount is exchanged for the quoted amount, not for amount times rate', () => {
    given(created).when(seeing(exact)).then(received(exact), processing('100', '0.5'));
    const quoted: OrderEventOf<'order.created.v1'> = { ...created, data: { ...facts, amount_to: '0.499' } };
    given(quoted).when(seeing(exact)).then(received(exact), processing('100', '0.499'));
  });

  it('of more than the requested amount is exchanged at the rate of the order, rounded down', () => {
    const more = deposit('a', '100.333333333333');
    given(created).when(seeing(more)).then(received(more), processing('100.333333333333', '0.501666666'));
  });

  it('is exchanged up to the maximum of the pair, and the rest is refundable', () => {
    const most = deposit('a', '1000.5');
    const events = [received(most), processing('1000', '5', '0.5')] as const;
    given(created).when(seeing(most)).then(events[0], events[1]);
    const amounts = { amount_received: '1000.5', amount_refundable: '0.5' };
    expect(recordAfter(created, ...events)).toMatchObject(amounts);
  });

  it('of less than the requested amount is not exchanged until another deposit tops it up', () => {
    given(created).when(seeing(a)).then(received(a));
    const open = { status: 'pending', amount_from: '100', amount_received: '60', amount_refundable: '0' };
    expect(recordAfter(created, received(a))).toMatchObject(open);
    given(created, received(a)).when(seeing(a, b)).then(received(b), processing('100', '0.5'));
  });

  it('that is small is recorded separately up to the twentieth; later small deposits become one sum', () => {
    const small = Array.from({ length: 20 }, (_, n) => deposit(`small${n}`, '0.5'));
    const twenty = small.map((each) => received(each));
    const afterNineteen = given(created, ...twenty.slice(0, 19));
    afterNineteen.when(observing({ deposits: small })).then(twenty[19]!);
    const next = observing({ deposits: [...small, deposit('next', '0.5')] });
    const afterTwenty = given(created, ...twenty);
    afterTwenty.when(next).then(dust('0.5', 1));
  });

  it('of zero is ignored', () => {
    const nothing = deposit('z', '0');
    given(created).when(seeing(nothing)).then();
  });

  it('that follows the exchanged deposit is late, even in the same poll', () =>
    given(created).when(seeing(exact, b)).then(received(exact), processing('100', '0.5'), late(b)));

  it('after a cancellation is late and refundable', () => {
    given(created, cancelled).when(seeing(exact)).then(late(exact));
    const record = recordAfter(created, cancelled, late(exact));
    expect(record).toMatchObject({ status: 'cancelled', amount_received: '0', amount_refundable: '100' });
    expect(record.late_deposits).toEqual([
      { amount: '100', transaction_hash: '0xa', deposited_at: exact.deposited_at },
    ]);
  });

  it('counts if its block is in time, even if the poll is after the end of the order', () => {
    const last = deposit('a', '100', minute(60));
    given(created)
      .when(observing({ deposits: [last], at: minute(90) }))
      .then(received(last, minute(90)), processing('100', '0.5', '0', minute(90)));
  });

  it('is late if its block is past the end of the order, even if that end is not recorded yet', () => {
    const after = deposit('a', '100', minute(60.01));
    const seen = { deposits: [after], at: minute(61) };
    const [lateOne, end] = [late(after, minute(61)), expiredAt(minute(61))];
    const unknownEnd = observing({ ...seen, completeUntil: null });
    given(created).when(unknownEnd).then(lateOne);
    given(created).when(observing(seen)).then(lateOne, end);
  });

  it('counts at the rate of the order for a day after the order was marked as paid', () => {
    const last = deposit('a', '100', minute(10 + DAY));
    given(created, paid)
      .when(observing({ deposits: [last], at: minute(11 + DAY) }))
      .then(received(last, minute(11 + DAY)), processing('100', '0.5', '0', minute(11 + DAY)));
  });
});

describe('the end of an order', () => {
  const later = minute(60.01);
  const onTime = observing({ at: later });

  it('is recorded as an expiry once the time is over, if no deposit arrived', () => {
    const inTime = observing({ at: minute(60) });
    given(created).when(inTime).then();
    given(created).when(onTime).then(expiredAt(later));
  });

  it.each([null, minute(60)])('waits until the provider has reported all earlier deposits: %s', (until) => {
    const incomplete = observing({ at: later, completeUntil: until });
    given(created).when(incomplete).then();
  });

  it('is delayed by an unconfirmed transfer until the list of deposits is complete for 24 h more', () => {
    const pending = (when: number, completeUntil = minute(when)) =>
      observing({ at: minute(when), completeUntil, isDepositPending: true });
    const slow = pending(60 + 25 * 60, minute(60 + 60));
    const aDay = pending(60 + DAY);
    given(created).when(pending(60.01)).then();
    given(created).when(slow).then();
    given(created)
      .when(aDay)
      .then(expiredAt(minute(60 + DAY)));
  });

  it('is a failure that makes insufficient deposits refundable, even after a mark as paid', () => {
    const part = received(deposit('a', '40'));
    const tooLow = failed('deposit_too_low', '40', later);
    given(created, part).when(onTime).then(tooLow);
    given(created, paid, part).when(onTime).then(tooLow);
    const record = { status: 'failed', reason: 'deposit_too_low', amount_refundable: '40' };
    expect(recordAfter(created, part, tooLow)).toMatchObject(record);
  });

  it('is a failure if no deposit arrives within a day after the order was marked as paid', () => {
    given(created, paid)
      .when(observing({ at: minute(10 + DAY) }))
      .then();
    const after = minute(11 + DAY);
    given(created, paid)
      .when(observing({ at: after }))
      .then(failed('no_deposit', '0', after));
  });
});

describe('the outcome of the provider', () => {
  const exact = received(deposit('a', '100'));
  const exchanging = [created, exact, processing('100', '0.5')] as const;
  const done = { kind: 'completed', transactionHash: '0xout', amountTo: null } as const;
  const back = { kind: 'refunded', transactionHash: '0xback' } as const;
  const reporting = (outcome: NonNullable<Parameters<typeof observing>[0]['outcome']>, at_ = at) =>
    observing({ outcome, at: at_ });

  it('completes an order with the amount that was paid out', () => {
    const started = given(...exchanging);
    started.when(reporting(done)).then(completed('0.5'));
    started.when(reporting({ ...done, amountTo: '0.49' })).then(completed('0.49'));
  });

  it('can be reported in the same poll as the deposit, even for less than the requested amount', () => {
    const with100 = observing({ deposits: [deposit('a', '100')], outcome: done });
    given(created).when(with100).then(exact, processing('100', '0.5'), completed('0.5'));
    const part = deposit('a', '40');
    const with40 = observing({ deposits: [part], outcome: done });
    given(created).when(with40).then(received(part), processing('40', '0.2'), completed('0.2', '40'));
  });

  it.each([done, back])('is ignored until a deposit is reported: %j', (outcome) =>
    given(created)
      .when(reporting(outcome, minute(70)))
      .then(),
  );

  it('is ignored if an open order has a deposit of another order; the order fails, and its own deposits are refundable', () => {
    const seen = { hasForeignDeposit: true, outcome: done };
    const other = 'deposit_of_another_order';
    given(created).when(observing(seen)).then(failed(other, '0'));
    const part = deposit('a', '40');
    const withPart = observing({ ...seen, deposits: [part] });
    given(created, paid).when(withPart).then(received(part), failed(other, '40'));
    given(created, exact, processing('100', '0.5')).when(observing(seen)).then(completed('0.5'));
    given(created, failed(other, '0')).when(observing(seen)).then(lateOutcome('completed', '0xout'));
  });

  it('can be a refund of all deposits, or a failure that makes all deposits refundable', () => {
    const withRest = given(created, exact, processing('90', '0.45', '10'));
    withRest.when(reporting(back)).then(refunded('100', '0xback'));
    const failure = reporting({ kind: 'failed', reason: 'no liquidity' });
    withRest.when(failure).then(failed('no liquidity', '100'));
  });

  it('has a reason only if the order failed', () => {
    expect(recordAfter(...exchanging, completed()).reason).toBeNull();
    expect(recordAfter(created, failed('no liquidity', '0')).reason).toBe('no liquidity');
  });

  it('is recorded once per kind after the end of the order, without a change of its status or amounts', () => {
    const reported = [lateOutcome('completed', '0xout'), lateOutcome('refunded', '0xback')] as const;
    given(created, expired).when(reporting(done)).then(reported[0]);
    given(created, expired, reported[0], reported[1]).when(reporting(done)).then();
    const failure = reporting({ kind: 'failed', reason: 'x' });
    given(created, expired).when(failure).then();
    const { status, amount_refundable } = recordAfter(
      created,
      expired,
      late(deposit('a', '100')),
      ...reported,
    );
    expect([status, amount_refundable]).toEqual(['expired', '100']);
  });
});

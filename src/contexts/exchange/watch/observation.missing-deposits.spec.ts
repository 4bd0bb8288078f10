import { describe, expect, it } from '@jest/globals';
import {
  cancelled,
  completed,
  created,
  DAY,
  deposit,
  dust,
  failed,
  given,
  late,
  minute,
  missing,
  observing,
  processing,
  received,
  recordAfter,
  refund,
  refunded,
  stateAfter,
  type UnpublishedEvent,
} from '../../../../test/support/exchange/order-fixtures.js';
import { amountRefundable, shortfall } from '../orders/order.js';

describe('deposits that a reorganisation removed', () => {
  const [part, exact] = [deposit('a', '40'), deposit('b', '100')];
  const moved = { ...exact, deposit_id: 'b in another block' };
  const started = [created, received(exact), processing('100', '0.5')] as const;
  const done = [...started, completed()];
  const processed = [...started, missing(exact), late(moved)] as const;
  /** The shortfall and the refundable amount. */
  const balance = (...events: readonly UnpublishedEvent[]) => {
    const state = stateAfter(...events);
    return [shortfall(state), amountRefundable(state)];
  };

  it('are recorded as missing once if the provider reports them missing, not if it only omits them', () => {
    const partly = given(created, received(part));
    partly.when(observing({ missing: ['a', 'unknown'] })).then(missing(part));
    partly.when(observing({ deposits: [] })).then();
    const again = observing({ missing: ['a'] });
    given(created, received(part), missing(part)).when(again).then();
  });

  it('no longer count towards an open order, but count again in another block', () => {
    const { status, amount_received } = recordAfter(created, received(part), missing(part));
    expect([status, amount_received]).toEqual(['pending', '0']);
    const seen = observing({ deposits: [moved], missing: ['b'] });
    given(created, received(exact), missing(exact))
      .when(seen)
      .then(received(moved), processing('100', '0.5'));
  });

  it('become a shortfall of an order that was paid out, which stays completed', () => {
    expect(balance(...done, missing(exact))).toEqual(['100', '0']);
    const { status, amount_received } = recordAfter(...done, missing(exact));
    expect([status, amount_received]).toEqual(['completed', '0']);
  });

  it.each([
    ['100', '0', '0'],
    ['130', '0', '30'],
    ['30', '70', '0'],
  ])('of 100 that return as a deposit of %s leave shortfall %s, refund %s', (amount, short, rest) =>
    expect(balance(...done, missing(exact), late({ ...moved, amount }))).toEqual([short, rest]),
  );

  it('do not keep an order in processing once the provider has paid out or refunded', () => {
    const outcomes = [
      [{ kind: 'completed', transactionHash: '0xout', amountTo: null }, completed()],
      [{ kind: 'refunded', transactionHash: null }, refunded('100')],
    ] as const;
    for (const [outcome, end] of outcomes) {
      const seen = observing({ deposits: [moved], missing: ['b'], outcome });
      given(...processed)
        .when(seen)
        .then(end);
      expect(balance(...processed, end)).toEqual(['0', '0']);
    }
    expect(balance(...started, missing(exact), refunded('100'))).toEqual(['100', '0']);
  });

  it('are not refundable, and become a shortfall if they were refunded already', () => {
    const ended = [created, received(part), failed('deposit_too_low', '40')];
    expect(balance(...ended, missing(part))).toEqual(['0', '0']);
    expect(balance(...ended, refund('40'), missing(part))).toEqual(['40', '0']);
    expect(balance(created, cancelled, late(exact), missing(exact))).toEqual(['0', '0']);
  });

  it('are not refundable when the order fails; deposits that are still on the chain are refundable', () => {
    const outcome = { kind: 'failed', reason: 'no liquidity' } as const;
    given(...processed)
      .when(observing({ deposits: [moved], missing: ['b'], outcome }))
      .then(failed('no liquidity', '0'));
    expect(balance(...processed, failed('no liquidity', '0'))).toEqual(['0', '100']);
  });
});

describe('small late transfers after the twentieth late deposit', () => {
  const twenty = Array.from({ length: 20 }, (_, n) => deposit(`late ${n}`, '10'));
  const small = (count: number) => Array.from({ length: count }, (_, n) => deposit(`small ${n}`, '1'));
  const history = [created, cancelled, ...twenty.map((each) => late(each))];
  const observed = (count: number, more: Parameters<typeof observing>[0] = {}) =>
    observing({ deposits: [...twenty, ...small(count)], ...more });
  const after = given(...history);
  const afterThree = given(...history, dust('3'));

  it('are refundable at once and to the last unit', () => {
    after.when(observed(3)).then(dust('3'));
    afterThree.when(observed(4)).then(dust('4'));
    expect(recordAfter(...history, dust('4')).amount_refundable).toBe('204');
  });

  it('count less after a reorganisation only if the provider names the missing transfers', () => {
    afterThree.when(observed(2, { missing: ['small 2'] })).then(dust('2'));
    afterThree.when(observed(2)).then();
  });

  it('are recorded at each change up to a hundred times, then once their sum doubles or a day passes', () => {
    const afterMany = given(...history, ...Array.from({ length: 100 }, (_, n) => dust(`${n + 1}`)));
    afterMany.when(observed(199)).then();
    afterMany.when(observed(200)).then(dust('200'));
    const later = minute(10 + DAY);
    afterMany.when(observed(101, { at: later })).then(dust('101', 101, later));
  });
});

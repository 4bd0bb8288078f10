import { describe, expect, it } from '@jest/globals';
import {
  at,
  base,
  cancelled,
  DAY,
  deposit,
  failed,
  late,
  observing,
  created,
  minute,
  processing,
  received,
  recordAfter,
  stateAfter,
  type Seen,
  given,
} from '../../../../test/support/exchange/order-fixtures.js';
import { amountRefundable, shortfall } from '../orders/order.js';
import type { LaterOrderEvent } from '../orders/order-events.js';

describe('deposits that a reorganisation took off the chain', () => {
  const missing = ({ deposit_id, amount, transaction_hash }: Seen): LaterOrderEvent => ({
    type: 'order.deposit_missing.v1',
    data: { ...base, deposit_id, amount, transaction_hash },
  });
  const [part, exact] = [deposit('a', '40'), deposit('b', '100')];
  const moved = { ...exact, deposit_id: 'b in another block' };
  const completed: LaterOrderEvent = {
    type: 'order.completed.v1',
    data: { ...base, amount_from: '100', amount_to: '0.5', withdraw_transaction_hash: '0xout' },
  };
  const paidOut = { kind: 'completed', transactionHash: '0xout', amountTo: null } as const;
  const refunded: LaterOrderEvent = {
    type: 'order.refunded.v1',
    data: { ...base, amount: '100', refund_transaction_hash: null },
  };
  const done = [created, received(exact), processing('100', '0.5'), completed];

  it('are recorded once each, and others stay', () => {
    given(created, received(part))
      .when(observing({ missing: ['a', 'unknown'] }))
      .then(missing(part));
    given(created, received(part), missing(part))
      .when(observing({ missing: ['a'] }))
      .then();
    given(created, received(part))
      .when(observing({ deposits: [] }))
      .then();
  });

  it('no longer count towards an open order, and count again in another block', () => {
    expect(recordAfter(created, received(part), missing(part))).toMatchObject({
      status: 'pending',
      amount_received: '0',
      amount_refundable: '0',
    });
    given(created, received(exact), missing(exact))
      .when(observing({ deposits: [moved], missing: ['b'] }))
      .then(received(moved), processing('100', '0.5'));
  });

  it('are a shortfall of an order that was paid out, which stays completed', () => {
    const state = stateAfter(...done, missing(exact));
    expect([state.status, shortfall(state), amountRefundable(state)]).toEqual(['completed', '100', '0']);
    expect(recordAfter(...done, missing(exact))).toMatchObject({
      amount_received: '0',
      amount_refundable: '0',
    });
  });

  it('are offset by the same transfer in another block before anything is refundable', () => {
    const state = stateAfter(...done, missing(exact), late(moved));
    expect([shortfall(state), amountRefundable(state)]).toEqual(['0', '0']);
    const more = stateAfter(...done, missing(exact), late({ ...moved, amount: '130' }));
    expect([shortfall(more), amountRefundable(more)]).toEqual(['0', '30']);
    const less = stateAfter(...done, missing(exact), late({ ...moved, amount: '30' }));
    expect([shortfall(less), amountRefundable(less)]).toEqual(['70', '0']);
  });

  it('do not keep an order in processing that the provider has paid out or refunded', () => {
    const processed = [created, received(exact), processing('100', '0.5'), missing(exact), late(moved)];
    given(...processed)
      .when(observing({ deposits: [moved], missing: ['b'], outcome: paidOut }))
      .then(completed);
    given(...processed)
      .when(
        observing({
          deposits: [moved],
          missing: ['b'],
          outcome: { kind: 'refunded', transactionHash: null },
        }),
      )
      .then(refunded);
    for (const end of [completed, refunded]) {
      const state = stateAfter(...processed, end);
      expect([shortfall(state), amountRefundable(state)]).toEqual(['0', '0']);
    }
    const unpaid = stateAfter(created, received(exact), processing('100', '0.5'), missing(exact), refunded);
    expect([shortfall(unpaid), amountRefundable(unpaid)]).toEqual(['100', '0']);
  });

  it('are not refundable, and a shortfall where they were refunded already', () => {
    const ended = failed('deposit_too_low', '40', at);
    const unpaid = stateAfter(created, received(part), ended, missing(part));
    expect([amountRefundable(unpaid), shortfall(unpaid)]).toEqual(['0', '0']);
    const refund: LaterOrderEvent = {
      type: 'order.refund_recorded.v1',
      data: { ...base, amount: '40', transaction_hash: '0xr', actor: 'ops' },
    };
    const refunded = stateAfter(created, received(part), ended, refund, missing(part));
    expect([amountRefundable(refunded), shortfall(refunded)]).toEqual(['0', '40']);
    const gone = stateAfter(created, cancelled, late(exact), missing(exact));
    expect([amountRefundable(gone), shortfall(gone)]).toEqual(['0', '0']);
  });

  it('of an order that then fails are not refundable, and those on the chain are', () => {
    const processed = [created, received(exact), processing('100', '0.5'), missing(exact), late(moved)];
    const outcome = { kind: 'failed', reason: 'no liquidity' } as const;
    given(...processed)
      .when(observing({ deposits: [moved], missing: ['b'], outcome }))
      .then(failed('no liquidity', '0', at));
    expect(amountRefundable(stateAfter(...processed, failed('no liquidity', '0', at)))).toBe('100');
  });
});

describe('transfers after twenty late ones that are too small to be recorded', () => {
  const twenty = Array.from({ length: 20 }, (_, n) => deposit(`late ${n}`, '10'));
  const small = (count: number) => Array.from({ length: count }, (_, n) => deposit(`small ${n}`, '1'));
  const history = [created, cancelled, ...twenty.map((each) => late(each))];
  const observed = (count: number, more: Parameters<typeof observing>[0] = {}) =>
    observing({ deposits: [...twenty, ...small(count)], ...more });
  const dust = (count: number, when = at): LaterOrderEvent => ({
    type: 'order.dust_recorded.v1',
    data: { order_id: 'o1', count, amount: `${count}`, at: when },
  });

  it('are refundable to the last unit at once', () => {
    given(...history)
      .when(observed(3))
      .then(dust(3));
    given(...history, dust(3))
      .when(observed(4))
      .then(dust(4));
    expect(recordAfter(...history, dust(4)).amount_refundable).toBe('204');
  });

  it('decrease after a reorganisation when the provider names the missing ones', () => {
    given(...history, dust(3))
      .when(observed(2, { missing: ['small 2'] }))
      .then(dust(2));
    given(...history, dust(3))
      .when(observed(2))
      .then();
  });

  it('are recorded up to a hundred times, then when they have doubled or a day later', () => {
    const many = [...history, ...Array.from({ length: 100 }, (_, n) => dust(n + 1))];
    given(...many)
      .when(observed(199))
      .then();
    given(...many)
      .when(observed(200))
      .then(dust(200));
    const later = minute(10 + DAY);
    given(...many)
      .when(observed(101, { at: later }))
      .then(dust(101, later));
  });
});

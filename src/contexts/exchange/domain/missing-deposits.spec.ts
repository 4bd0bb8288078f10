import { describe, expect, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import {
  at,
  base,
  cancelled,
  DAY,
  deposit,
  failed,
  late,
  looking,
  made,
  minute,
  processing,
  received,
  recordAfter,
  stateAfter,
  type Seen,
} from '../../../../test/support/order-story.js';
import { order, owed, shortfall } from './order.js';
import type { OrderEvent } from './order-events.js';

const given = givenOf(order);

describe('deposits that a reorganisation took off the chain', () => {
  const missing = ({ id, amount, transactionHash }: Seen): OrderEvent => ({
    type: 'order.deposit_missing.v1',
    data: { ...base, deposit_id: id, amount, transaction_hash: transactionHash },
  });
  const [part, exact] = [deposit('a', '40'), deposit('b', '100')];
  const moved = { ...exact, id: 'b in another block' };
  const completed: OrderEvent = {
    type: 'order.completed.v1',
    data: { ...base, amount_to: '0.5', withdraw_transaction_hash: '0xout' },
  };
  const paidOut = { kind: 'completed', transactionHash: '0xout', amountTo: null } as const;
  const refunded: OrderEvent = {
    type: 'order.refunded.v1',
    data: { ...base, amount: '100', refund_transaction_hash: null },
  };
  const done = [made, received(exact), processing('100', '0.5'), completed];

  it('are recorded once each, and others stay', () => {
    given(made, received(part))
      .when(looking({ missing: ['a', 'unknown'] }))
      .then(missing(part));
    given(made, received(part), missing(part))
      .when(looking({ missing: ['a'] }))
      .then();
    given(made, received(part))
      .when(looking({ deposits: [] }))
      .then();
  });

  it('no longer count towards an open order, and count again in another block', () => {
    expect(recordAfter(made, received(part), missing(part))).toMatchObject({
      status: 'pending',
      amount_received: '0',
      amount_refundable: '0',
    });
    given(made, received(exact), missing(exact))
      .when(looking({ deposits: [moved], missing: ['b'] }))
      .then(received(moved), processing('100', '0.5'));
  });

  it('are a shortfall of an order that was paid out, which stays completed', () => {
    const state = stateAfter(...done, missing(exact));
    expect([state.status, shortfall(state), owed(state)]).toEqual(['completed', '100', '0']);
    expect(recordAfter(...done, missing(exact))).toMatchObject({
      amount_received: '0',
      amount_refundable: '0',
    });
  });

  it('are made up for by the same transfer in another block before anything is owed', () => {
    const state = stateAfter(...done, missing(exact), late(moved));
    expect([shortfall(state), owed(state)]).toEqual(['0', '0']);
    const more = stateAfter(...done, missing(exact), late({ ...moved, amount: '130' }));
    expect([shortfall(more), owed(more)]).toEqual(['0', '30']);
    const less = stateAfter(...done, missing(exact), late({ ...moved, amount: '30' }));
    expect([shortfall(less), owed(less)]).toEqual(['70', '0']);
  });

  it('do not keep an order in processing that the provider has paid out or given back', () => {
    const processed = [made, received(exact), processing('100', '0.5'), missing(exact), late(moved)];
    given(...processed)
      .when(looking({ deposits: [moved], missing: ['b'], outcome: paidOut }))
      .then(completed);
    given(...processed)
      .when(
        looking({ deposits: [moved], missing: ['b'], outcome: { kind: 'refunded', transactionHash: null } }),
      )
      .then(refunded);
    for (const end of [completed, refunded]) {
      const state = stateAfter(...processed, end);
      expect([shortfall(state), owed(state)]).toEqual(['0', '0']);
    }
    const unpaid = stateAfter(made, received(exact), processing('100', '0.5'), missing(exact), refunded);
    expect([shortfall(unpaid), owed(unpaid)]).toEqual(['100', '0']);
  });

  it('are not refundable, and a shortfall where they were refunded already', () => {
    const ended = failed('deposit_too_low', '40', at);
    const unpaid = stateAfter(made, received(part), ended, missing(part));
    expect([owed(unpaid), shortfall(unpaid)]).toEqual(['0', '0']);
    const refund: OrderEvent = {
      type: 'order.refund_recorded.v1',
      data: { ...base, amount: '40', transaction_hash: '0xr', actor: 'ops' },
    };
    const refunded = stateAfter(made, received(part), ended, refund, missing(part));
    expect([owed(refunded), shortfall(refunded)]).toEqual(['0', '40']);
    const gone = stateAfter(made, cancelled, late(exact), missing(exact));
    expect([owed(gone), shortfall(gone)]).toEqual(['0', '0']);
  });

  it('of an order that then fails are not refundable, and those on the chain are', () => {
    const processed = [made, received(exact), processing('100', '0.5'), missing(exact), late(moved)];
    const outcome = { kind: 'failed', reason: 'no liquidity' } as const;
    given(...processed)
      .when(looking({ deposits: [moved], missing: ['b'], outcome }))
      .then(failed('no liquidity', '0', at));
    expect(owed(stateAfter(...processed, failed('no liquidity', '0', at)))).toBe('100');
  });

  it('leave the other deposits of the order as they are, counted and late', () => {
    const other = deposit('c', '60');
    const counted = stateAfter(made, received(part), received(other), missing(part));
    expect(counted.deposits.map(({ deposit_id }) => deposit_id)).toEqual(['c']);
    const after = stateAfter(made, cancelled, late(part), late(other), missing(part));
    expect(after.lateDeposits.map(({ deposit_id }) => deposit_id)).toEqual(['c']);
  });
});

describe('transfers that a provider sums up', () => {
  const dust = (count: number, amount: string, when = at): OrderEvent => ({
    type: 'order.dust_recorded.v1',
    data: { order_id: 'o1', count, amount, at: when },
  });

  it('are refundable to the last unit, as soon as they are known', () => {
    given(made)
      .when(looking({ unlisted: { count: 3, amount: '1.5' } }))
      .then(dust(3, '1.5'));
    given(made, dust(3, '1.5'))
      .when(looking({ unlisted: { count: 4, amount: '1.500001' } }))
      .then(dust(4, '1.500001'));
    expect(recordAfter(made, dust(4, '1.500001')).amount_refundable).toBe('1.500001');
  });

  it('are less after a reorganisation', () =>
    given(made, dust(3, '1.5'))
      .when(looking({ unlisted: { count: 2, amount: '1' } }))
      .then(dust(2, '1')));

  it('are recorded up to a hundred times, then when they have doubled or a day later', () => {
    const many = Array.from({ length: 100 }, (_, n) => dust(n + 1, `${n + 1}`));
    given(made, ...many)
      .when(looking({ unlisted: { count: 199, amount: '199' } }))
      .then();
    given(made, ...many)
      .when(looking({ unlisted: { count: 200, amount: '200' } }))
      .then(dust(200, '200'));
    const later = minute(10 + DAY);
    given(made, ...many, cancelled)
      .when(looking({ unlisted: { count: 101, amount: '101' }, at: later }))
      .then(dust(101, '101', later));
  });
});

import { describe, expect, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import {
  facts,
  minute,
  at,
  DAY,
  made,
  base,
  paid,
  cancelled,
  expired,
  deposit,
  received,
  late,
  processing,
  stateAfter,
} from '../../../../test/support/order-story.js';
import { fold } from '../../../kernel/aggregate.js';
import { KeyOutlived } from '../../../kernel/repeats.js';
import { cancelOrder, createOrder, markAsPaid, order, owed, recordRefund, type Order } from './order.js';
import type { OrderEvent } from './order-events.js';

const given = givenOf(order);

describe('making an order', () => {
  it('settles what it is', () =>
    given()
      .when((state) => createOrder(facts, state))
      .then(made));
  it('finds itself when it is repeated, also with another quote', () =>
    given(made)
      .when((state) => createOrder({ ...facts, rate: '0.006', created_at: minute(1) }, state))
      .then());
  it('is refused under the id of another one', () =>
    given(made)
      .when((state) => createOrder({ ...facts, withdraw_address_memo: 'swapped' }, state))
      .thenRefused('validation_failed'));
  it('is another one when the first is too old to be repeated', () =>
    expect(() => createOrder({ ...facts, created_at: minute(31 * DAY) }, stateAfter(made))).toThrow(
      KeyOutlived,
    ));
});

describe('marking as paid', () => {
  const marking = (when: string) => (state: Order) =>
    markAsPaid({ at: when, waitsUntil: minute(10 + DAY) }, state);

  it('takes a pending order to paid', () => given(made).when(marking(at)).then(paid));
  it('changes nothing the second time', () =>
    given(made, paid)
      .when(marking(minute(99)))
      .then());
  it('comes too late at the end of the order, looked at or not', () => {
    given(made)
      .when(marking(minute(59.99)))
      .then({ ...paid, data: { ...paid.data, at: minute(59.99) } } as OrderEvent);
    given(made)
      .when(marking(minute(60)))
      .thenRefused('invalid_transition');
    given(made, expired)
      .when(marking(minute(61)))
      .thenRefused('invalid_transition');
  });
  it('is out of turn once the order is cancelled or exchanged', () => {
    given(made, cancelled).when(marking(at)).thenRefused('invalid_transition');
    given(made, paid, received(deposit('a', '100')), processing('100', '0.5'))
      .when(marking(at))
      .thenRefused('invalid_transition');
  });
  it('knows no order that was never made', () => given().when(marking(at)).thenRefused('not_found'));
});

describe('cancelling', () => {
  const cancelling =
    (isDepositUnderWay = false) =>
    (state: Order) =>
      cancelOrder({ at, isDepositUnderWay }, state);

  it('ends a pending order', () => {
    given(made).when(cancelling()).then(cancelled);
    const refundable: OrderEvent = { type: 'order.cancelled.v1', data: { ...base, refundable: '40' } };
    expect(fold(order, [made, refundable])).toMatchObject({ status: 'cancelled', refundable: '40' });
  });
  it('makes what has come of too little refundable', () =>
    given(made, received(deposit('a', '40')))
      .when(cancelling())
      .then({ type: 'order.cancelled.v1', data: { ...base, refundable: '40' } }));
  it('waits for a transfer that is under way', () =>
    given(made).when(cancelling(true)).thenRefused('invalid_transition'));
  it.each([
    ['paid', paid],
    ['cancelled', cancelled],
    ['expired', expired],
    ['processing', processing('100', '0.5')],
  ])('is out of turn for an order that is %s', (_, event) =>
    given(made, event).when(cancelling()).thenRefused('invalid_transition'),
  );
});

describe('refunds of an operator', () => {
  const refunding =
    (amount: string, transactionHash = '0xr') =>
    (state: Order) =>
      recordRefund({ amount, transactionHash, actor: 'ops', at }, state);
  const refund = (amount: string, transaction_hash = '0xr'): OrderEvent => ({
    type: 'order.refund_recorded.v1',
    data: { ...base, amount, transaction_hash, actor: 'ops' },
  });
  const history = [made, cancelled, late(deposit('a', '100'))];

  it('take off what is owed', () => {
    given(...history)
      .when(refunding('60'))
      .then(refund('60'));
    expect(owed(stateAfter(...history, refund('60')))).toBe('40');
    expect(owed(stateAfter(...history, refund('60'), refund('40', '0xs')))).toBe('0');
  });
  it('take off transfers that are too small for a record each', () => {
    const dust: OrderEvent = { type: 'order.dust_recorded.v1', data: { ...base, count: 9, amount: '0.25' } };
    expect(owed(stateAfter(...history, dust))).toBe('100.25');
    given(...history, dust)
      .when(refunding('100.25'))
      .then(refund('100.25'));
  });
  it('are never more than that, and never nothing', () => {
    given(...history)
      .when(refunding('100.01'))
      .thenRefused('invalid_transition');
    given(...history, refund('60'))
      .when(refunding('40.01', '0xs'))
      .thenRefused('invalid_transition');
    given(...history)
      .when(refunding('0'))
      .thenRefused('invalid_transition');
  });
  it('of the same transaction are one', () => {
    given(...history, refund('50'))
      .when(refunding('50'))
      .then();
    given(...history, refund('50'))
      .when(refunding('40'))
      .thenRefused('invalid_transition');
  });
  it('of the same transaction are one however its hash and the amount are written', () => {
    const [hash, base58] = [`0x${'ab'.repeat(32)}`, `5${'aB'.repeat(43)}`];
    for (const again of [hash.toUpperCase(), `0x${'aB'.repeat(32)}`, hash.slice(2)])
      given(...history, refund('50', hash))
        .when(refunding('50.0', again))
        .then();
    given(...history, refund('50', base58))
      .when(refunding('50', base58.toLowerCase()))
      .then(refund('50', base58.toLowerCase()));
  });
});

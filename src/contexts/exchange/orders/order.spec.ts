import { describe, expect, it } from '@jest/globals';
import {
  facts,
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
  stateAfter,
  given,
  type UnpublishedEvent,
} from '../../../../test/support/exchange/order-fixtures.js';
import { IdempotencyKeyExpired } from '../../../kernel/idempotency.js';
import {
  cancelOrder,
  createOrder,
  eraseOrder,
  markAsPaid,
  amountRefundable,
  recordRefund,
  type OrderState,
} from './order.js';
import type { LaterOrderEvent } from './order-events.js';

describe('creating an order', () => {
  it('records the terms', () =>
    given()
      .when((state) => createOrder(facts, state))
      .then(created));
  it('writes no event for a repeated request, even with another quote', () =>
    given(created)
      .when((state) => createOrder({ ...facts, rate: '0.006', created_at: minute(1) }, state))
      .then());
  it('is refused when its id belongs to another order', () =>
    given(created)
      .when((state) => createOrder({ ...facts, withdraw_address_memo: 'swapped' }, state))
      .thenRefused('validation_failed'));
  it('needs another id when the order is too old for a repeat', () =>
    expect(() => createOrder({ ...facts, created_at: minute(31 * DAY) }, stateAfter(created))).toThrow(
      IdempotencyKeyExpired,
    ));
});

describe('marking an order as paid', () => {
  const marking = (when: string) => (state: OrderState) =>
    markAsPaid({ at: when, waits_until: minute(10 + DAY) }, state);

  it('takes a pending order to paid', () => given(created).when(marking(at)).then(paid));
  it('changes nothing when it is repeated', () =>
    given(created, paid)
      .when(marking(minute(99)))
      .then());
  it('is refused after the end of the order, polled or not', () => {
    given(created)
      .when(marking(minute(59.99)))
      .then({ ...paid, data: { ...paid.data, at: minute(59.99) } } as LaterOrderEvent);
    given(created)
      .when(marking(minute(60)))
      .thenRefused('invalid_transition');
    given(created, expired)
      .when(marking(minute(61)))
      .thenRefused('invalid_transition');
  });
  it('is refused once the order is cancelled or exchanged', () => {
    given(created, cancelled).when(marking(at)).thenRefused('invalid_transition');
    given(created, paid, received(deposit('a', '100')), processing('100', '0.5'))
      .when(marking(at))
      .thenRefused('invalid_transition');
  });
  it('is refused for an order that was never created', () =>
    given().when(marking(at)).thenRefused('not_found'));
});

describe('cancelling an order', () => {
  const cancelling =
    (isDepositPending = false) =>
    (state: OrderState) =>
      cancelOrder({ at, isDepositPending }, state);

  it('ends a pending order', () => {
    given(created).when(cancelling()).then(cancelled);
    const refundable: LaterOrderEvent = { type: 'order.cancelled.v1', data: { ...base, refundable: '40' } };
    expect(stateAfter(created, refundable)).toMatchObject({ status: 'cancelled', refundable: '40' });
  });
  it('makes insufficient deposits refundable', () =>
    given(created, received(deposit('a', '40')))
      .when(cancelling())
      .then({ type: 'order.cancelled.v1', data: { ...base, refundable: '40' } }));
  it('waits for a pending transfer', () =>
    given(created).when(cancelling(true)).thenRefused('invalid_transition'));
  it.each([
    ['paid', paid],
    ['cancelled', cancelled],
    ['expired', expired],
    ['processing', processing('100', '0.5')],
  ])('is refused for an order that is %s', (_, event) =>
    given(created, event).when(cancelling()).thenRefused('invalid_transition'),
  );
});

describe('refunds of an operator', () => {
  const refunding =
    (amount: string, transaction_hash = '0xr') =>
    (state: OrderState) =>
      recordRefund({ amount, transaction_hash, actor: 'ops', at }, state);
  const refund = (amount: string, transaction_hash = '0xr'): LaterOrderEvent => ({
    type: 'order.refund_recorded.v1',
    data: { ...base, amount, transaction_hash, actor: 'ops' },
  });
  const history = [created, cancelled, late(deposit('a', '100'))];

  it('reduce the refundable amount', () => {
    given(...history)
      .when(refunding('60'))
      .then(refund('60'));
    expect(amountRefundable(stateAfter(...history, refund('60')))).toBe('40');
    expect(amountRefundable(stateAfter(...history, refund('60'), refund('40', '0xs')))).toBe('0');
  });
  it('are more than zero, and at most the refundable amount', () => {
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
  it('of the same transaction are one for any spelling of its hash and amount', () => {
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

const by = { actor: 'ops', at };
const erased: LaterOrderEvent = {
  type: 'order.personal_data_erased.v1',
  data: { order_id: facts.order_id, key_id: facts.key_id, ...by },
};

describe('the personal data of an order', () => {
  it.each<[string, readonly UnpublishedEvent[]]>([
    ['pending', [created]],
    ['paid', [created, paid]],
    ['processing', [created, received(deposit('a', '100')), processing('100', '0.5')]],
  ])('is not erased while the order is %s', (status, events) => {
    expect(() => eraseOrder(by, stateAfter(...events))).toThrow(`The order is ${status}`);
  });

  it.each([
    ['cancelled', cancelled],
    ['expired', expired],
  ])('is erased once the order is %s; a repeat changes nothing', (_status, end) => {
    expect(eraseOrder(by, stateAfter(created, end))).toEqual([erased]);
    expect(eraseOrder(by, stateAfter(created, end, erased))).toEqual([]);
  });
});

import { describe, expect, it } from '@jest/globals';
import {
  at,
  cancelled,
  created,
  DAY,
  deposit,
  erased,
  event,
  expired,
  facts,
  given,
  late,
  minute,
  paid,
  processing,
  received,
  refund,
  stateAfter,
  type UnpublishedEvent,
} from '../../../../test/support/exchange/order-fixtures.js';
import { IdempotencyKeyExpired } from '../../../kernel/idempotency.js';
import {
  amountRefundable,
  cancelOrder,
  createOrder,
  eraseOrder,
  markAsPaid,
  recordRefund,
  type OrderState,
} from './order.js';

describe('the creation of an order', () => {
  const creating = (more: Partial<typeof facts> = {}) => {
    return (state: OrderState) => createOrder({ ...facts, ...more }, state);
  };

  it('records the terms of the order', () => given().when(creating()).then(created));
  it('writes no event if the request is repeated, even with another quote', () => {
    const again = creating({ rate: '0.006', created_at: minute(1) });
    given(created).when(again).then();
  });
  it('is refused if an order with the same id but another memo exists', () => {
    const swapped = creating({ withdraw_address_memo: 'swapped' });
    given(created).when(swapped).thenRefused('validation_failed');
  });
  it('is refused with IdempotencyKeyExpired if the same order was created 31 days earlier', () => {
    const tooLate = creating({ created_at: minute(31 * DAY) });
    expect(() => tooLate(stateAfter(created))).toThrow(IdempotencyKeyExpired);
  });
});

describe('marking an order as paid', () => {
  const marking = (when: string) => (state: OrderState) =>
    markAsPaid({ at: when, waits_until: minute(10 + DAY) }, state);
  const now = marking(at);

  it('changes a pending order to paid; a repeat changes nothing', () => {
    given(created).when(now).then(paid);
    const again = marking(minute(99));
    given(created, paid).when(again).then();
  });
  it('is refused once the order is over, even if no poll has recorded the expiry', () => {
    const [last, over] = [marking(minute(59.99)), marking(minute(60))];
    const marked = event('marked_as_paid', { waits_until: minute(10 + DAY) }, minute(59.99));
    given(created).when(last).then(marked);
    given(created).when(over).thenRefused('invalid_transition');
    given(created, expired).when(over).thenRefused('invalid_transition');
  });
  it('is refused for an order that was cancelled, exchanged or never created', () => {
    given(created, cancelled).when(now).thenRefused('invalid_transition');
    const exchanged = given(created, paid, received(deposit('a', '100')), processing('100', '0.5'));
    exchanged.when(now).thenRefused('invalid_transition');
    given().when(now).thenRefused('not_found');
  });
});

describe('cancelling an order', () => {
  const cancelling =
    (isDepositPending = false) =>
    (state: OrderState) =>
      cancelOrder({ at, isDepositPending }, state);

  it('ends a pending order and makes insufficient deposits refundable', () => {
    given(created).when(cancelling()).then(cancelled);
    const refundable = event('cancelled', { refundable: '40' });
    const part = received(deposit('a', '40'));
    given(created, part).when(cancelling()).then(refundable);
    expect(stateAfter(created, refundable)).toMatchObject({ status: 'cancelled', refundable: '40' });
  });
  it('is refused while a transfer is pending', () =>
    given(created).when(cancelling(true)).thenRefused('invalid_transition'));
  it.each([
    ['paid', paid],
    ['cancelled', cancelled],
    ['expired', expired],
    ['processing', processing('100', '0.5')],
  ])('is refused for an order that is %s', (_, end) =>
    given(created, end).when(cancelling()).thenRefused('invalid_transition'),
  );
});

describe('refunds by an operator', () => {
  const refunding =
    (amount: string, transaction_hash = '0xr') =>
    (state: OrderState) =>
      recordRefund({ amount, transaction_hash, actor: 'ops', at }, state);
  const history = [created, cancelled, late(deposit('a', '100'))];
  const before = given(...history);

  it('reduce the refundable amount', () => {
    before.when(refunding('60')).then(refund('60'));
    expect(amountRefundable(stateAfter(...history, refund('60')))).toBe('40');
    expect(amountRefundable(stateAfter(...history, refund('60'), refund('40', '0xs')))).toBe('0');
  });
  it('must be more than zero and at most the refundable amount', () => {
    before.when(refunding('100.01')).thenRefused('invalid_transition');
    before.when(refunding('0')).thenRefused('invalid_transition');
    const afterOne = given(...history, refund('60'));
    afterOne.when(refunding('40.01', '0xs')).thenRefused('invalid_transition');
  });
  it('are recorded once for the same transaction, however its hash and amount are written', () => {
    const [hash, base58] = [`0x${'ab'.repeat(32)}`, `5${'aB'.repeat(43)}`];
    const after = given(...history, refund('50', hash));
    after.when(refunding('40', hash)).thenRefused('invalid_transition');
    for (const again of [hash, hash.toUpperCase(), `0x${'aB'.repeat(32)}`, hash.slice(2)])
      after.when(refunding('50.0', again)).then();
    const other = base58.toLowerCase();
    const afterBase58 = given(...history, refund('50', base58));
    afterBase58.when(refunding('50', other)).then(refund('50', other));
  });
});

describe('the personal data of an order', () => {
  const by = { actor: 'ops', at };

  it.each<[string, readonly UnpublishedEvent[]]>([
    ['pending', [created]],
    ['paid', [created, paid]],
    ['processing', [created, received(deposit('a', '100')), processing('100', '0.5')]],
  ])('is retained while the order is %s', (status, events) => {
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

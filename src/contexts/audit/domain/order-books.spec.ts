import { describe, expect, it } from '@jest/globals';
import { OrderBooks, orderResponseOf } from './order-books.js';

const at = '2026-01-01T00:10:00.000Z';
const facts = {
  order_id: 'o',
  key_id: 'k',
  merchant_id: 'm',
  pair_id: 'USDCSOL',
  withdraw_address: 'address',
  withdraw_address_tag: null,
  withdraw_address_memo: 'a "memo"',
  user_id: null,
  caller: 'hash',
  provider: 'sandbox',
  provider_reference: '1',
  deposit_address: '0x1',
  deposit_address_tag: null,
  amount_from: '100',
  amount_to: '0.5',
  rate: '0.005',
  minimum: '10',
  maximum: '1000',
  decimals_to: 9,
  created_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-01T01:00:00.000Z',
};
type Recorded = readonly [stream: string, type: string, data: object];
const issued: Recorded = ['exchange_key-k', 'exchange_key.issued.v1', { key_id: 'k', merchant_id: 'm' }];
const orderEvent = (type: string, data: object = {}, id = 'o'): Recorded => [
  `order-${id}`,
  `order.${type}.v1`,
  { order_id: id, at, ...data },
];
const made = (id = 'o', more: object = {}): Recorded =>
  orderEvent('created', { ...facts, order_id: id, ...more }, id);
const transfer = (id: string, amount: string) => ({
  deposit_id: id,
  amount,
  transaction_hash: `0x${id}`,
  deposited_at: at,
});
const deposit = (id: string, amount: string, orderId = 'o'): Recorded =>
  orderEvent('deposit_received', transfer(id, amount), orderId);
const late = (id: string, amount: string): Recorded =>
  orderEvent('late_deposit_recorded', transfer(id, amount));
const missing = (id: string, amount: string, orderId = 'o'): Recorded =>
  orderEvent('deposit_missing', { deposit_id: id, amount }, orderId);
const processing = (from: string, to: string, refundable: string): Recorded =>
  orderEvent('processing_started', { amount_from: from, amount_to: to, refundable });
const completed = orderEvent('completed', { amount_to: '0.5', withdraw_transaction_hash: '0xout' });
const cancelled = (refundable: string): Recorded => orderEvent('cancelled', { refundable });
const refund = (amount: string): Recorded => orderEvent('refund_recorded', { amount });
const failed = (refundable: string): Recorded =>
  orderEvent('failed', { reason: 'deposit_too_low', refundable });

function booksOf(...events: readonly Recorded[]): OrderBooks {
  const books = new OrderBooks();
  const revisions = new Map<string, number>();
  events.forEach(([stream, type, data], place) => {
    const revision = (revisions.get(stream) ?? -1) + 1;
    revisions.set(stream, revision);
    books.add({ position: String(place + 1), stream, revision, type, data });
  });
  return books;
}

const rules = (books: OrderBooks): string => books.violations.first.map(({ rule }) => rule).join('; ');

describe('the books of orders', () => {
  it('follow an order to its end, with what came and what has to go back', () => {
    const books = booksOf(
      issued,
      made(),
      orderEvent('marked_as_paid', { waits_until: at }),
      deposit('a', '60.5'),
      deposit('b', '1000'),
      processing('1000', '5', '60.5'),
      completed,
      late('c', '2'),
      orderEvent('refund_recorded', { amount: '62.5', transaction_hash: '0xback', actor: 'operator' }),
    );
    expect(rules(books)).toBe('');
    expect(JSON.parse(orderResponseOf(books.orders.get('o')!))).toMatchObject({
      status: 'completed',
      amount_from: '1000',
      amount_received: '1060.5',
      amount_refundable: '0',
      late_deposits: [{ amount: '2', transaction_hash: '0xc', deposited_at: at }],
      updated_at: at,
    });
  });

  it('owe nothing once the refunds together are what is owed', () => {
    const books = booksOf(issued, made(), deposit('a', '5'), failed('5'), refund('2'), refund('3'));
    expect(rules(books)).toBe('');
    expect(JSON.parse(orderResponseOf(books.orders.get('o')!))).toMatchObject({ amount_refundable: '0' });
  });

  it('take a deposit that moved and came back to its first block for one deposit', () => {
    const both = (...events: readonly Recorded[]) => rules(booksOf(issued, made(), made('p'), ...events));
    const [first, moved] = [deposit('a', '1'), deposit('a in another block', '1')];
    expect(both(first, missing('a', '1'), moved, missing('a in another block', '1'), first)).toBe('');
    expect(both(first, missing('a', '1'), late('a', '1'))).toBe('');
    expect(both(first, missing('a', '1'), first, late('a', '1'))).toMatch(/deposit a is recorded once/);
    expect(both(first, deposit('a', '1', 'p'), missing('a', '1', 'p'))).toMatch(/not first for p/);
    expect(both(first, missing('a', '1', 'p'), late('a', '1'))).toMatch(/deposit a is recorded once/);
  });

  it('have nothing refundable in an order that was given back whose deposit moved', () => {
    const books = booksOf(
      ...[issued, made(), deposit('a', '100'), processing('100', '0.5', '0'), missing('a', '100')],
      ...[late('a in another block', '100'), orderEvent('refunded', { amount: '100' })],
    );
    expect(rules(books)).toBe('');
    expect(JSON.parse(orderResponseOf(books.orders.get('o')!))).toMatchObject({ amount_refundable: '0' });
  });

  it.each<[string, readonly Recorded[], RegExp]>([
    ['an order of nobody', [made()], /made by a key of its merchant/],
    ['an order of another merchant', [issued, made('o', { merchant_id: 'x' })], /a key of its merchant/],
    ['an order made twice', [issued, made(), made()], /made once/],
    ['an end before the beginning', [issued, completed], /made before anything befalls it/],
    [
      'a payment after cancelling',
      [issued, made(), cancelled('0'), orderEvent('marked_as_paid')],
      /is cancelled/,
    ],
    ['cancelling what was paid', [issued, made(), orderEvent('marked_as_paid'), cancelled('0')], /is paid/],
    ['completing without an exchange', [issued, made(), completed], /is pending/],
    ['an end after an end', [issued, made(), cancelled('0'), failed('0')], /is cancelled/],
    [
      'a deposit that counts after the end',
      [issued, made(), cancelled('0'), deposit('a', '1')],
      /is cancelled/,
    ],
    ['an outcome that is not late', [issued, made(), orderEvent('late_outcome_recorded')], /is pending/],
    ['one deposit twice', [issued, made(), deposit('a', '1'), late('a', '1')], /deposit a is recorded once/],
    [
      'one deposit for two orders',
      [issued, made(), made('p'), deposit('a', '1'), deposit('a', '1', 'p')],
      /not first for p/,
    ],
    ['an expiry before the end', [issued, made(), orderEvent('expired')], /expires after its end/],
    [
      'an expiry with a deposit',
      [issued, made(), deposit('a', '1'), orderEvent('expired', { at: facts.expires_at })],
      /expires without a deposit/,
    ],
    ['more exchanged than came', [issued, made(), processing('100', '0.5', '0')], /exchanges what came/],
    [
      'a part of a deposit that is nowhere',
      [issued, made(), deposit('a', '101'), processing('100', '0.5', '0')],
      /exchanges what came/,
    ],
    [
      'an exchange over the maximum',
      [issued, made(), deposit('a', '1001'), processing('1001', '5.005', '0')],
      /up to its maximum/,
    ],
    [
      'an exchange at another rate',
      [issued, made(), deposit('a', '200'), processing('200', '1.1', '0')],
      /at its rate/,
    ],
    ['money that a cancelled order keeps', [issued, made(), deposit('a', '5'), cancelled('0')], /given back/],
    ['money that a failed order keeps', [issued, made(), deposit('a', '5'), failed('4')], /given back/],
    [
      'money that was not all refunded',
      [issued, made(), deposit('a', '5'), orderEvent('refunded', { amount: '4' })],
      /given back/,
    ],
    [
      'more given back than is owed',
      [issued, made(), deposit('a', '5'), failed('5'), refund('5.000001')],
      /no more than is owed/,
    ],
    [
      'refunds that are more than is owed only together',
      [issued, made(), deposit('a', '5'), failed('5'), refund('2'), refund('2'), refund('2')],
      /no more than is owed/,
    ],
  ])('note %s', (_name, events, rule) => {
    expect(rules(booksOf(...events))).toMatch(rule);
  });
});

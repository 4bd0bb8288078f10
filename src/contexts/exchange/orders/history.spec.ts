import { describe, expect, it } from '@jest/globals';
import { brokenRules } from '../../../../test/support/broken-rules.js';
import {
  cancelled,
  completed,
  created,
  deposit,
  dust,
  event,
  facts,
  failed,
  historyOf,
  late,
  lateOutcome,
  minute,
  missing,
  paid,
  processing,
  received,
  refund,
  refunded,
  type UnpublishedEvent,
} from '../../../../test/support/exchange/order-fixtures.js';
import type { DomainEvent } from '../../../kernel/aggregate.js';
import { acrossOrders, orderHistory } from './history.js';

const deposited = received(deposit('a', '100'));
const started = processing('100', '0.5');
const expired = event('expired', {}, minute(61));
const gone = missing(deposit('a', '100'));
const afterwards = [late(deposit('b', '5')), gone, dust('5', 1)];

/** The events as they are stored, unchanged from the first one that has no state before it. */
const brokenOf = (...events: readonly DomainEvent[]) =>
  brokenRules(
    orderHistory,
    'o1',
    events[0]?.type === created.type ? historyOf(...(events as UnpublishedEvent[])) : events,
  );

describe('the audit of an order', () => {
  it('accepts an exchange up to the maximum and a refund of the rest, even if a deposit moved to another block', () => {
    const events = [
      ...[created, received(deposit('a', '60.5')), received(deposit('b', '1000'))],
      processing('1000', '5', '60.5'),
      ...[missing(deposit('a', '60.5')), late(deposit('a elsewhere', '60.5')), completed('5', '1000')],
      ...[late(deposit('c', '2')), dust('5', 1), refund('62.5'), lateOutcome('refunded')],
    ];
    expect(brokenOf(...events).filter(Boolean)).toEqual([]);
  });

  const receiving = (amount: string) => received(deposit('b', amount));
  const refunds = ['0x1', '0x2', '0x3'].map((hash) => refund('2', hash));
  const late1 = lateOutcome('completed');
  const beginning = (first: DomainEvent, rule: string): [string, DomainEvent[], string] => {
    return [`begins with ${first.type}`, [first], rule];
  };

  it.each<[string, readonly DomainEvent[], string]>([
    ['is created twice', [created, created], 'the order is created once'],
    ...[paid, cancelled, refund('5')].map((first) => beginning(first, 'Order not found')),
    ...[expired, deposited, started, completed(), failed('no_deposit', '0'), refunded('100')]
      .concat([lateOutcome('completed'), ...afterwards])
      .map((first) => beginning(first, 'the order is created first')),
    ['expires when it is paid', [created, paid, expired], 'is paid with 0 received, and it does not follow'],
    ['expires before its end', [created, event('expired', {}, minute(60))], 'is pending with 0 received'],
    ['expires with a deposit', [created, receiving('1'), expired], 'is pending with 1 received'],
    ['is exchanged without a deposit', [created, started], 'is pending with 0 received'],
    ['is exchanged in part', [created, receiving('101'), started], 'amount_from is "100", expected "101"'],
    ['exceeds its maximum', [created, receiving('1001'), processing('1001', '5')], 'expected "1000"'],
    ['is exchanged at another rate', [created, receiving('200'), processing('200', '2')], 'expected "1"'],
    [
      'fails and keeps money',
      [created, receiving('5'), failed('low', '4')],
      'refundable is "4", expected "5"',
    ],
    ['is refunded in part', [created, receiving('5'), refunded('4')], 'its amount is "4", expected "5"'],
    ['is refunded too often', [created, receiving('5'), failed('low', '5'), ...refunds], 'At most 1 is'],
    ['has a late deposit that counts', [created, deposited, started, receiving('1')], 'is processing'],
    ['is exchanged twice', [created, deposited, started, started], 'the order is processing'],
    ['is completed before it is exchanged', [created, deposited, completed()], 'the order is pending'],
    ['fails after its end', [created, expired, failed('no_deposit', '0')], 'the order is expired'],
    ['is refunded after its end', [created, cancelled, refunded('100')], 'the order is cancelled'],
    ['has a late outcome too early', [created, deposited, started, lateOutcome('refunded')], 'is processing'],
    ['has a late outcome twice', [created, expired, late1, late1], 'is expired'],
    ['is cancelled when it is paid', [created, paid, cancelled], 'The order is paid and cannot be cancelled'],
    ['returns more than is refundable', [created, cancelled, refund('5')], 'At most 0 is refundable'],
    ['is cancelled with another rest', [created, deposited, cancelled], 'its refundable is "0"'],
    [
      'is in the stream of another order',
      [{ ...created, data: { ...facts, order_id: 'o2' } }],
      'its order_id is o2',
    ],
  ])('names the rule that an order breaks if it %s', (_what, events, rule) => {
    expect(brokenOf(...events).at(-1)).toContain(rule);
  });

  it('keeps in memory only those fields of an ended order that a refund or an erasure needs', () => {
    const stateAfter = (...events: readonly DomainEvent[]): unknown =>
      events.reduce((state, each) => orderHistory.evaluate(state, each, 'o1').state, orderHistory.initial);
    for (const events of [[deposited], [deposited, started]])
      expect(stateAfter(created, ...events)).toMatchObject({ ...facts, deposits: [{ deposit_id: 'a' }] });
    const ended = stateAfter(created, deposited, started, completed()) as Readonly<Record<string, unknown>>;
    const terms = Object.entries(facts).filter(([name, value]) => value && ended[name] === value);
    const kept = 'order_id key_id merchant_id amount_from amount_to decimals_to created_at';
    expect([terms.map(([name]) => name).join(' '), ended['deposits']]).toEqual([kept, []]);
    expect(stateAfter()).toEqual({ status: 'none' });
  });
});

describe('the audit across orders', () => {
  const issued: DomainEvent = {
    type: 'credential.issued.v1',
    data: { kind: 'exchange', key_id: 'k1', owner_id: 'm1' },
  };
  const createdOf = (order_id: string): DomainEvent => ({ ...created, data: { ...facts, order_id } });
  const of = (order_id: string, { type, data }: DomainEvent): DomainEvent => ({
    type,
    data: { ...data, order_id },
  });
  const brokenAcross = (...events: readonly DomainEvent[]): readonly string[] =>
    [issued, createdOf('o1'), createdOf('o2'), ...events].map(acrossOrders()).filter((each) => each !== null);
  const again = late(deposit('a', '100'));
  const moved = received(deposit('a in another block', '100'));

  it('accepts a deposit again after it was missing, in the same or in another block', () => {
    const missingMoved = missing(deposit('a in another block', '100'));
    expect(brokenAcross(deposited, gone, moved, missingMoved, deposited)).toEqual([]);
    expect(brokenAcross(deposited, gone, again)).toEqual([]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['a deposit recorded twice', [deposited, again], 'deposit a is recorded once, and not first for o1'],
    ['a returned deposit recorded twice', [deposited, gone, deposited, again], 'deposit a is recorded once'],
    [
      'a deposit of two orders',
      [deposited, of('o2', deposited)],
      'deposit a is recorded once, and not first for o2',
    ],
    ['a missing deposit of another order', [deposited, of('o2', gone)], 'order o2 has the deposit a before'],
  ])('reports %s', (_name, events, rule) => {
    expect(brokenAcross(...events)).toEqual([expect.stringContaining(rule)]);
  });

  it('reports an order that no key of its merchant created', () => {
    const stranger: DomainEvent = { ...created, data: { ...facts, merchant_id: 'm2' } };
    expect([created].map(acrossOrders())).toEqual(['order o1 is created by a key of its merchant']);
    expect([issued, stranger].map(acrossOrders())).toEqual([
      null,
      'order o1 is created by a key of its merchant',
    ]);
  });
});

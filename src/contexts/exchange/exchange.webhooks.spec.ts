import { describe, expect, it } from '@jest/globals';
import { brokenRules } from '../../../test/support/broken-rules.js';
import {
  at,
  cancelled,
  completed,
  created,
  deposit,
  dust,
  event,
  expired,
  failed,
  historyOf,
  late,
  lateOutcome,
  minute,
  missing,
  observing,
  paid,
  processing,
  received,
  refund,
  refunded,
  seeing,
  stateAfter,
  type UnpublishedEvent,
} from '../../../test/support/exchange/order-fixtures.js';
import { webhooksOf } from '../../../test/support/exchange/order-webhooks.js';
import type { OrderEvent } from './orders/order-events.js';
import { orderHistory } from './orders/history.js';

/** The webhooks of the last event: types, and data without ids. Null for an event without webhooks. */
const sentAfter = (...events: readonly UnpublishedEvent[]) =>
  webhooksOf(historyOf(...events).at(-1)!)?.map(({ type, fields }) => {
    const { order_id, api_key, ...more } = fields as Record<'order_id' | 'api_key', string>;
    expect([order_id, api_key]).toEqual(['o1', 'k1']);
    return [type, more];
  }) ?? null;

const exact = received(deposit('a', '100'));
const part = received(deposit('a', '40'));
const lateOne = late(deposit('b', '7'));
const exchanged = [created, exact, processing('100', '0.5')];
const refundable = (status: string, amount_refundable: string, cause: string) => [
  'order.refundable',
  { status, amount_refundable, cause },
];

describe('the webhooks of an order', () => {
  it('contain the exchanged and the paid amount when it is completed', () =>
    expect(sentAfter(...exchanged, completed())).toEqual([
      [
        'order.completed',
        {
          ...{ status: 'completed', amount_refundable: '0' },
          ...{ amount_from: '100', amount_to: '0.5', withdraw_transaction_hash: '0xout' },
        },
      ],
    ]));

  it('are order.failed with the reason and, if an amount is refundable, also order.refundable', () => {
    const failure = (amount_refundable: string, reason: string) => [
      'order.failed',
      { status: 'failed', amount_refundable, reason },
    ];
    expect(sentAfter(created, paid, failed('no_deposit', '0'))).toEqual([failure('0', 'no_deposit')]);
    expect(sentAfter(created, part, failed('deposit_too_low', '40'))).toEqual([
      failure('40', 'deposit_too_low'),
      refundable('failed', '40', 'failed'),
    ]);
    // A deposit that left the chain was larger than the late one.
    expect(
      sentAfter(...exchanged, missing(deposit('a', '100')), lateOne, failed('no_liquidity', '0')),
    ).toEqual([failure('7', 'no_liquidity'), refundable('failed', '7', 'failed')]);
  });

  it('report the excess over the maximum of the pair as refundable; without an excess none is sent', () => {
    const more = received(deposit('a', '1060.5'));
    expect(sentAfter(created, more, processing('1000', '5', '60.5'))).toEqual([
      refundable('processing', '60.5', 'above_maximum'),
    ]);
    expect(sentAfter(...exchanged)).toEqual([]);
    expect(sentAfter(created, lateOne, exact, processing('100', '0.5'))).toEqual([]);
  });

  it('report the insufficient deposits of a cancelled order as refundable', () => {
    const withPart = event('cancelled', { refundable: '40' });
    expect(sentAfter(created, part, withPart)).toEqual([refundable('cancelled', '40', 'cancelled')]);
    expect(sentAfter(created, cancelled)).toEqual([]);
  });

  it('contain the whole refundable amount when a late deposit arrives', () => {
    expect(sentAfter(created, expired, lateOne)).toEqual([refundable('expired', '7', 'late_deposit')]);
    expect(sentAfter(...exchanged, completed(), lateOne, late(deposit('c', '0.5')))).toEqual([
      refundable('completed', '7.5', 'late_deposit'),
    ]);
    expect(sentAfter(created, expired, lateOne, dust('0.25', 2))).toEqual([
      refundable('expired', '7.25', 'small_deposits'),
    ]);
  });

  it('are not sent for a late deposit that only moved to another block', () =>
    expect(
      sentAfter(...exchanged, completed(), missing(deposit('a', '100')), late(deposit('a2', '100'))),
    ).toEqual([]));

  it('contain each refund by the provider or an operator, and the amount that is still refundable', () => {
    expect(sentAfter(created, part, refunded('40'))).toEqual([
      [
        'order.refunded',
        { status: 'refunded', amount_refundable: '0', amount: '40', refund_transaction_hash: null },
      ],
    ]);
    expect(sentAfter(created, expired, lateOne, refund('2', '0xback'))).toEqual([
      [
        'order.refunded',
        { status: 'expired', amount_refundable: '5', amount: '2', refund_transaction_hash: '0xback' },
      ],
    ]);
  });

  it.each<[string, readonly UnpublishedEvent[]]>([
    ['is created', [created]],
    ['is marked as paid', [created, paid]],
    ['expires', [created, expired]],
    ['receives a deposit', [created, exact]],
    ['loses a deposit', [created, exact, missing(deposit('a', '100'))]],
    ['has an outcome that the provider reports too late', [created, expired, lateOutcome('refunded')]],
  ])('are not sent when it %s', (_what, events) => expect(sentAfter(...events)).toBeNull());

  it('contain the time of the event and no personal data', () => {
    const [sent] = webhooksOf(historyOf(...exchanged, completed()).at(-1)!)!;
    expect(sent!.occurredAt).toBe(at);
    for (const secret of ['u1', '7EcDhS']) expect(JSON.stringify(sent)).not.toContain(secret);
  });
});

describe('an order event that sends a webhook', () => {
  it('stores the owner and the state of its order', () => {
    const late1 = deposit('b', '7', minute(70));
    const [stored] = observing({ deposits: [late1], at: minute(71) })(stateAfter(created, expired));
    expect(stored).toEqual({
      type: 'order.late_deposit_recorded.v1',
      data: {
        ...{ order_id: 'o1', deposit_id: 'b', amount: '7', transaction_hash: '0xb' },
        ...{ deposited_at: late1.deposited_at, at: minute(71) },
        ...{ merchant_id: 'm1', key_id: 'k1', status: 'expired', amount_refundable: '7' },
      },
    });
    const [exchange] = seeing(deposit('a', '100'))(stateAfter(created)).slice(1);
    expect(exchange).toEqual({
      type: 'order.processing_started.v1',
      data: {
        ...{ order_id: 'o1', amount_from: '100', amount_to: '0.5', refundable: '0', at },
        ...{ merchant_id: 'm1', key_id: 'k1', status: 'processing', amount_refundable: '0' },
      },
    });
  });

  it.each([
    ['merchant_id', 'm2', 'its merchant_id is "m2", expected "m1"'],
    ['key_id', 'k2', 'its key_id is "k2", expected "k1"'],
    ['status', 'completed', 'its status is "completed", expected "expired"'],
    ['amount_refundable', '8', 'its amount_refundable is "8", expected "7"'],
  ])('breaks an audit rule if its %s differs from the state of the order', (name, value, rule) => {
    const events = historyOf(created, expired, lateOne);
    const { type, data } = events[2]!;
    const changed = { type, data: { ...data, [name]: value } } as OrderEvent;
    expect(brokenRules(orderHistory, 'o1', [events[0]!, events[1]!, changed]).at(-1)).toBe(rule);
    expect(brokenRules(orderHistory, 'o1', events).at(-1)).toBeNull();
  });
});

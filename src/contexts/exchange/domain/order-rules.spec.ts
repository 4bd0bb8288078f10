import { describe, expect, it } from '@jest/globals';
import { brokenRules } from '../../../../test/support/broken-rules.js';
import {
  base,
  cancelled,
  deposit,
  expired,
  facts,
  late,
  made,
  paid,
  processing,
  received,
} from '../../../../test/support/order-story.js';
import type { DomainEvent } from '../../../kernel/aggregate.js';
import { orderHistory } from './order-rules.js';

const event = (type: string, data: object = {}): DomainEvent => ({
  type: `order.${type}.v1`,
  data: { ...base, ...data },
});
const deposited = received(deposit('a', '100'));
const started = processing('100', '0.5');
const completed = event('completed', { amount_to: '0.5', withdraw_transaction_hash: '0xout' });
const failed = event('failed', { reason: 'no_deposit', refundable: '0' });
const refunded = event('refunded', { amount: '100', refund_transaction_hash: null });
const refund = event('refund_recorded', { amount: '5', transaction_hash: '0xback', actor: 'ops' });
const outcome = (kind: string): DomainEvent =>
  event('late_outcome_recorded', { outcome: kind, transaction_hash: '0xlate' });
const missing = event('deposit_missing', { deposit_id: 'a', amount: '100', transaction_hash: '0xa' });
const dust = event('dust_recorded', { count: 1, amount: '5' });
const afterwards = [late(deposit('b', '5')), missing, dust];

const brokenOf = (...events: readonly DomainEvent[]) => brokenRules(orderHistory, 'o1', events);

describe('the audit of an order', () => {
  it.each<[string, readonly DomainEvent[]]>([
    ['is completed', [made, deposited, started, completed, ...afterwards, outcome('refunded')]],
    ['is marked as paid and completed', [made, paid, deposited, started, completed]],
    [
      'is cancelled, with a late deposit that is given back',
      [made, cancelled, late(deposit('a', '5')), refund],
    ],
    ['expires', [made, expired, ...afterwards]],
    ['fails while it waits', [made, paid, failed]],
    ['fails while it is exchanged', [made, deposited, started, failed, outcome('completed')]],
    ['is refunded', [made, deposited, refunded]],
    ['has dust and missing deposits while it is open', [made, deposited, missing, dust]],
  ])('accepts one that %s', (_what, events) => {
    expect(brokenOf(...events).filter(Boolean)).toEqual([]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['is made twice', [made, made], 'the order is made once'],
    ...[paid, cancelled, refund].map((first): [string, readonly DomainEvent[], string] => [
      `begins with ${first.type}`,
      [first],
      'Order not found',
    ]),
    ...[expired, deposited, started, completed, failed, refunded, outcome('completed'), ...afterwards].map(
      (first): [string, readonly DomainEvent[], string] => [
        `begins with ${first.type}`,
        [first],
        'the order is made first',
      ],
    ),
    ['expires when it is paid', [made, paid, expired], 'the order is paid, after which it does not come'],
    [
      'counts a deposit while it is exchanged',
      [made, deposited, started, received(deposit('b', '1'))],
      'is processing',
    ],
    ['is exchanged twice', [made, deposited, started, started], 'the order is processing'],
    ['is completed before it is exchanged', [made, deposited, completed], 'the order is pending'],
    ['fails after its end', [made, expired, failed], 'the order is expired'],
    ['is refunded after its end', [made, cancelled, refunded], 'the order is cancelled'],
    ['has a late outcome before its end', [made, deposited, started, outcome('refunded')], 'is processing'],
    ['has one late outcome twice', [made, expired, outcome('completed'), outcome('completed')], 'is expired'],
    ['is cancelled when it is paid', [made, paid, cancelled], 'The order is paid and cannot be cancelled'],
    ['gives back more than is owed', [made, cancelled, refund], 'At most 0 is refundable'],
    ['is cancelled with another rest', [made, deposited, cancelled], 'its refundable is "0"'],
    ['is in the stream of another', [{ ...made, data: { ...facts, order_id: 'o2' } }], 'its order_id is o2'],
  ])('names the rule that is broken by one that %s', (_what, events, rule) => {
    expect(brokenOf(...events).at(-1)).toContain(rule);
  });

  it('keeps in memory of an order that has ended only what a refund or an erasure is compared with', () => {
    const stateAfter = (...events: readonly DomainEvent[]): unknown =>
      events.reduce((state, each) => orderHistory.judge(state, each, 'o1').state, orderHistory.initial);
    expect(stateAfter(made, deposited)).toMatchObject({ facts, deposits: [{ deposit_id: 'a' }] });
    expect(stateAfter(made, deposited, started)).toMatchObject({ facts, deposits: [{ deposit_id: 'a' }] });
    const ended = stateAfter(made, deposited, started, completed) as { facts: object; deposits: object };
    const { key_id, created_at } = facts;
    expect([ended.facts, ended.deposits]).toEqual([{ order_id: 'o1', key_id, created_at }, []]);
    expect(stateAfter()).toEqual({ status: 'none' });
  });
});

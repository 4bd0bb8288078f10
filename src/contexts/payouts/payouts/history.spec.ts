import { describe, expect, it } from '@jest/globals';
import { brokenRules } from '../../../../test/support/broken-rules.js';
import { evidenceAt, FACTS } from '../../../../test/support/payouts/evidence.js';
import type { DomainEvent } from '../../../kernel/aggregate.js';
import { payoutHistory } from './history.js';

const [CREATED, ENDS] = ['2026-01-02T03:04:05.000Z', '2026-01-03T03:04:05.000Z'];
const reported = (over: object = {}): DomainEvent => ({
  type: 'payout.reported.v1',
  data: { ...FACTS, created_at: CREATED, expires_at: ENDS, ...over },
});
const received = (over: object = {}): DomainEvent => ({
  type: 'payout.received.v2',
  data: { ...FACTS, ...evidenceAt(1), received_at: ENDS, created_at: CREATED, ...over },
});
const expired = (over: object = {}): DomainEvent => ({
  type: 'payout.expired.v1',
  data: { ...FACTS, reason: 'not found', expired_at: ENDS, ...over },
});

const brokenOf = (...events: readonly DomainEvent[]) => brokenRules(payoutHistory, 'p', events);

describe('the audit of a payout', () => {
  it.each([
    ['received with its evidence', received()],
    ['expired at the end of its window', expired()],
  ])('accepts one that is %s', (_what, outcome) => {
    expect(brokenOf(reported(), outcome)).toEqual([null, null]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['is reported twice', [reported(), reported()], 'it is reported once, and pending already'],
    ['is reported after it was received', [reported(), received(), reported()], 'once, and received already'],
    [
      'is of more than 10,000 USDC',
      [reported({ amount: '10000.01' })],
      'its amount 10000.01 is out of bounds',
    ],
    ['is of nothing', [reported({ amount: '0' })], 'its amount 0 is out of bounds'],
    ['is received without a report', [received()], 'it is reported before it ends'],
    ['expires without a report', [expired()], 'it is reported before it ends'],
    ['is received twice', [reported(), received(), received()], 'it ends once, and is received already'],
    ['expires after it was received', [reported(), received(), expired()], 'it ends once, and is received'],
    [
      'is received after it expired',
      [reported(), expired(), received()],
      'it ends once, and is expired already',
    ],
    ['is received with another amount', [reported(), received({ amount: '13' })], 'its amount is "13"'],
    [
      'is received with another time of its report',
      [reported(), received({ created_at: ENDS })],
      'its created_at is',
    ],
    [
      'expires a millisecond before the end of its window',
      [reported(), expired({ expired_at: '2026-01-03T03:04:04.999Z' })],
      `it expires before its window has passed, on ${ENDS}`,
    ],
    ['is in the stream of another', [reported({ payout_id: 'q' })], 'its payout_id is q'],
  ])('names the rule that is broken by one that %s', (_what, events, rule) => {
    expect(brokenOf(...events).at(-1)).toContain(rule);
  });

  it('keeps in memory only the status of an ended payout', () => {
    const stateAfter = (...events: readonly DomainEvent[]): unknown =>
      events.reduce((state, event) => payoutHistory.evaluate(state, event, 'p').state, payoutHistory.initial);
    expect(stateAfter(reported())).toMatchObject({ status: 'pending', reported: FACTS });
    expect(stateAfter(reported(), received())).toEqual({ status: 'received' });
    expect(stateAfter(reported(), expired())).toEqual({ status: 'expired' });
  });
});

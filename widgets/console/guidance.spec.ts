import { describe, expect, it } from '@jest/globals';
import {
  deliveryGuidance,
  findingWords,
  operationGuidance,
  orderGuidance,
  payoutGuidance,
  requestGuidance,
  userGuidance,
} from './guidance.js';

const NOW = Date.parse('2026-11-22T02:00:00Z');
const minutes = (count: number): string => new Date(NOW + count * 60_000).toISOString();

describe('a payout', () => {
  const pending = (last_finding: string | null, next: number, last_at: string | null = null) => ({
    ...{ status: 'pending', check: { last_finding, last_at, next_at: minutes(next) } },
  });

  it('needs nothing once it is received', () => {
    expect(payoutGuidance({ ...pending(null, -60), status: 'received' }, NOW)).toBeNull();
  });

  it.each([
    [
      'whose check is late points to the workers',
      pending('not_found', -90),
      'bad: Its check is late by 1 h 30',
    ],
    [
      'whose first check is late is not checked within seconds',
      pending(null, -2),
      'bad: Its check is late by 2',
    ],
    ['that somebody changed is a sign of tampering', pending('row_changed', 1), /^bad: .*audit.*verify/],
    ['that waits for the next block is not a concern', pending('confirming', 1), /^busy: .*\. Nothing/],
    [
      'whose nodes do not respond names them',
      pending(null, 1, minutes(-1)),
      /no node had a usable.*under System/,
    ],
    ['that was not checked yet blames no node', pending(null, 1), 'first check'],
    ['with another amount is a matter of the merchant', pending('wrong_amount', 1), /^warn: .*merchant/],
  ])('%s', (_, payout, words) => {
    const { tone, title, text } = payoutGuidance(payout, NOW)!;
    expect(`${tone}: ${title}. ${text}`).toEqual(
      typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words),
    );
  });

  it('displays findings that it does not know as they are', () => {
    expect(findingWords('lost_in_space')).toBe('lost in space');
  });
});

describe('a user', () => {
  const onboarding = (members: object) => ({ account_state: 'onboarding', onboarding: members });

  it('in review is decided at the provider', () => {
    expect(userGuidance(onboarding({ waiting_for: 'review' }), NOW)?.title).toContain('under review');
  });

  it('who has not finished the page needs no operator', () => {
    expect(userGuidance(onboarding({ waiting_for: null }), NOW)?.title).toBe('Waits for the person');
  });

  it('whose next attempt is long past has no worker', () => {
    const late = userGuidance(onboarding({ waiting_for: 'provider', next_at: minutes(-30) }), NOW);
    expect(late).toMatchObject({ tone: 'bad', text: expect.stringContaining('late by 30 min') as unknown });
    const soon = userGuidance(onboarding({ waiting_for: 'provider', next_at: minutes(2) }), NOW);
    expect(soon?.tone).toBe('busy');
  });

  it('whose step is gone is continued by an operator', () => {
    const guidance = userGuidance(onboarding({ waiting_for: 'operator', next_at: null }), NOW);
    expect(guidance).toMatchObject({ tone: 'bad', title: 'No worker is on it' });
  });

  it('who is active needs nothing', () => expect(userGuidance({ account_state: 'active' }, NOW)).toBeNull());
});

describe('an order', () => {
  it('with money to refund says how much, also when it is completed', () => {
    expect(orderGuidance({ status: 'completed', amount_refundable: '7.5' })?.title).toBe(
      '7.5 must be refunded',
    );
    expect(orderGuidance({ status: 'completed', amount_refundable: '0' })).toBeNull();
  });
});

describe('a delivery', () => {
  it('displays the last response or error of its receiver', () => {
    const attempts = [
      { http_status: 500 },
      { http_status: null, error: 'CERT_HAS_EXPIRED', error_class: 'tls' },
    ];
    expect(deliveryGuidance({ status: 'exhausted', attempts })?.title).toBe(
      'No further automatic attempt: CERT_HAS_EXPIRED',
    );
    expect(deliveryGuidance({ status: 'pending', attempts: attempts.slice(0, 1) })?.title).toContain(
      'with 500',
    );
    expect(deliveryGuidance({ status: 'succeeded', attempts })).toBeNull();
  });
});

describe('a request', () => {
  it('with a wrong signature displays what to compare', () => {
    expect(requestGuidance({ status: 401, string_to_sign: '1\nGET\n/\n' })?.title).toContain('signature');
    expect(requestGuidance({ status: 401 })).toBeNull();
    expect(requestGuidance({ status: 503 })?.tone).toBe('bad');
  });
});

describe('an operation', () => {
  it('that waits says how long it still can', () => {
    const guidance = operationGuidance({ status: 'pending_approval', expires_at: minutes(90) }, NOW);
    expect(guidance?.title).toBe('Waits for a second person, 1 h 30 min left');
  });

  it('that was not confirmed in time is overdue', () => {
    const guidance = operationGuidance({ status: 'unconfirmed', expires_at: minutes(-60) }, NOW);
    expect(guidance).toMatchObject({ tone: 'bad', title: 'Unconfirmed, overdue by 1 h' });
  });

  it('that failed because its subject changed says so', () => {
    expect(operationGuidance({ status: 'failed', failure: { code: 'changed' } }, NOW)?.title).toContain(
      'changed',
    );
  });
});

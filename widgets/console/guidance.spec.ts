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

describe('the guidance for a payout', () => {
  const pending = (last_finding: string | null, next: number, last_at: string | null = null) => ({
    ...{ status: 'pending', check: { last_finding, last_at, next_at: minutes(next) } },
  });

  it('is empty once the payout is received', () => {
    expect(payoutGuidance({ ...pending(null, -60), status: 'received' }, NOW)).toBeNull();
  });

  it.each([
    [
      'points to the workers if a check is late',
      pending('not_found', -90),
      'bad: Its check is late by 1 h 30',
    ],
    [
      'does not promise a check within seconds if the first one is late',
      pending(null, -2),
      'bad: Its check is late by 2',
    ],
    ['names a changed row as a sign of tampering', pending('row_changed', 1), /^bad: .*audit.*verify/],
    [
      'raises no concern if the payout waits for the next block',
      pending('confirming', 1),
      /^busy: .*\. Nothing/,
    ],
    [
      'points to the nodes if they do not respond',
      pending(null, 1, minutes(-1)),
      /no node had a usable.*under System/,
    ],
    ['blames no node before the first check', pending(null, 1), 'first check'],
    ['points to the merchant if the amount differs', pending('wrong_amount', 1), /^warn: .*merchant/],
  ])('%s', (_, payout, words) => {
    const { tone, title, text } = payoutGuidance(payout, NOW)!;
    expect(`${tone}: ${title}. ${text}`).toEqual(
      typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words),
    );
  });

  it('displays an unknown finding as its code without underscores', () => {
    expect(findingWords('lost_in_space')).toBe('lost in space');
  });
});

describe('the guidance for a user', () => {
  const onboarding = (members: object) => ({ account_state: 'onboarding', onboarding: members });

  it('points to the provider during a review', () => {
    expect(userGuidance(onboarding({ waiting_for: 'review' }), NOW)?.title).toContain('under review');
  });

  it('names the person, not an operator, while the user has not finished the page', () => {
    expect(userGuidance(onboarding({ waiting_for: null }), NOW)?.title).toBe('Waits for the person');
  });

  it('says that no worker runs if the next attempt is long overdue', () => {
    const late = userGuidance(onboarding({ waiting_for: 'provider', next_at: minutes(-30) }), NOW);
    expect(late).toMatchObject({ tone: 'bad', text: expect.stringContaining('late by 30 min') as unknown });
    const soon = userGuidance(onboarding({ waiting_for: 'provider', next_at: minutes(2) }), NOW);
    expect(soon?.tone).toBe('busy');
  });

  it('says that no worker continues if no step is scheduled', () => {
    const guidance = userGuidance(onboarding({ waiting_for: 'operator', next_at: null }), NOW);
    expect(guidance).toMatchObject({ tone: 'bad', title: 'No worker is on it' });
  });

  it('is empty for an active user', () => expect(userGuidance({ account_state: 'active' }, NOW)).toBeNull());
});

describe('the guidance for an order', () => {
  it('names the amount to refund, even if the order is completed', () => {
    expect(orderGuidance({ status: 'completed', amount_refundable: '7.5' })?.title).toBe(
      '7.5 must be refunded',
    );
    expect(orderGuidance({ status: 'completed', amount_refundable: '0' })).toBeNull();
  });
});

describe('the guidance for a delivery', () => {
  it('displays the last response or error of the receiver', () => {
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

describe('the guidance for a request', () => {
  it('explains a wrong signature and a failure of the service', () => {
    expect(requestGuidance({ status: 401, string_to_sign: '1\nGET\n/\n' })?.title).toContain('signature');
    expect(requestGuidance({ status: 401 })).toBeNull();
    expect(requestGuidance({ status: 503 })?.tone).toBe('bad');
  });
});

describe('the guidance for an operation', () => {
  it('displays the time that is left for the approval', () => {
    const guidance = operationGuidance({ status: 'pending_approval', expires_at: minutes(90) }, NOW);
    expect(guidance?.title).toBe('Waits for a second person, 1 h 30 min left');
  });

  it('says that a missing confirmation is overdue', () => {
    const guidance = operationGuidance({ status: 'unconfirmed', expires_at: minutes(-60) }, NOW);
    expect(guidance).toMatchObject({ tone: 'bad', title: 'Unconfirmed, overdue by 1 h' });
  });

  it('says that an operation failed because its subject changed', () => {
    expect(operationGuidance({ status: 'failed', failure: { code: 'changed' } }, NOW)?.title).toContain(
      'changed',
    );
  });
});

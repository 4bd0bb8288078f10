import { describe, expect, it } from '@jest/globals';
import {
  deliveryAdvice,
  findingWords,
  operationAdvice,
  orderAdvice,
  payoutAdvice,
  requestAdvice,
  userAdvice,
} from './advice.js';

const NOW = Date.parse('2026-11-22T02:00:00Z');
const minutes = (count: number): string => new Date(NOW + count * 60_000).toISOString();

describe('a payout', () => {
  const pending = (check: object) => ({ status: 'pending', check });

  it('needs nothing once it is received', () => {
    expect(payoutAdvice({ status: 'received', check: { next_at: minutes(-60) } }, NOW)).toBeNull();
  });

  it('whose check is late points to the workers, whatever the last check found', () => {
    const advice = payoutAdvice(pending({ last_finding: 'not_found', next_at: minutes(-90) }), NOW);
    expect(advice).toMatchObject({ tone: 'bad', title: 'Its check is late by 1 h 30 min' });
  });

  it('that waits for the next block is not a concern', () => {
    const advice = payoutAdvice(pending({ last_finding: 'confirming', next_at: minutes(1) }), NOW);
    expect(advice).toMatchObject({ tone: 'busy', text: expect.stringMatching(/^Nothing/) as unknown });
  });

  it('whose nodes do not respond points to the nodes', () => {
    const advice = payoutAdvice(
      pending({ last_at: minutes(-1), last_finding: null, next_at: minutes(1) }),
      NOW,
    );
    expect(advice?.title).toContain('no node responded');
    expect(advice?.text).toContain('nodes under System');
  });

  it('has not been checked yet: no node is blamed', () => {
    expect(payoutAdvice(pending({ last_at: null, next_at: minutes(1) }), NOW)?.title).toContain(
      'first check',
    );
  });

  it('with another amount is a matter of the merchant', () => {
    const advice = payoutAdvice(pending({ last_finding: 'wrong_amount', next_at: minutes(1) }), NOW);
    expect(advice).toMatchObject({ tone: 'warn', text: expect.stringContaining('merchant') as unknown });
  });

  it('displays findings that it does not know as they are', () => {
    expect(findingWords('lost_in_space')).toBe('lost in space');
  });
});

describe('a user', () => {
  const onboarding = (members: object) => ({ account_state: 'onboarding', onboarding: members });

  it('in review is decided at the provider', () => {
    expect(userAdvice(onboarding({ waiting_for: 'review' }), NOW)?.title).toContain('under review');
  });

  it('who has not finished the page is nobody’s task here', () => {
    expect(userAdvice(onboarding({ waiting_for: null }), NOW)?.title).toBe('Waits for the person');
  });

  it('whose next attempt is long past has no worker', () => {
    const late = userAdvice(onboarding({ waiting_for: 'provider', next_at: minutes(-30) }), NOW);
    expect(late).toMatchObject({ tone: 'bad', text: expect.stringContaining('late by 30 min') as unknown });
    const soon = userAdvice(onboarding({ waiting_for: 'provider', next_at: minutes(2) }), NOW);
    expect(soon?.tone).toBe('busy');
  });

  it('whose step is gone is continued by an operator', () => {
    const advice = userAdvice(onboarding({ waiting_for: 'operator', next_at: null }), NOW);
    expect(advice).toMatchObject({ tone: 'bad', title: 'No worker is on it' });
  });

  it('who is active needs nothing', () => expect(userAdvice({ account_state: 'active' }, NOW)).toBeNull());
});

describe('an order', () => {
  it('with money to refund says how much, also when it is completed', () => {
    expect(orderAdvice({ status: 'completed', amount_refundable: '7.5' })?.title).toBe(
      '7.5 must be refunded',
    );
    expect(orderAdvice({ status: 'completed', amount_refundable: '0' })).toBeNull();
  });
});

describe('a delivery', () => {
  it('says what the receiver responded last', () => {
    const attempts = [
      { http_status: 500 },
      { http_status: null, error: 'CERT_HAS_EXPIRED', error_class: 'tls' },
    ];
    expect(deliveryAdvice({ status: 'exhausted', attempts })?.title).toBe('Given up: CERT_HAS_EXPIRED');
    expect(deliveryAdvice({ status: 'pending', attempts: attempts.slice(0, 1) })?.title).toContain(
      'with 500',
    );
    expect(deliveryAdvice({ status: 'succeeded', attempts })).toBeNull();
  });
});

describe('a request', () => {
  it('with a wrong signature displays what to compare', () => {
    expect(requestAdvice({ status: 401, string_to_sign: '1\nGET\n/\n' })?.title).toContain('signature');
    expect(requestAdvice({ status: 401 })).toBeNull();
    expect(requestAdvice({ status: 503 })?.tone).toBe('bad');
  });
});

describe('an operation', () => {
  it('that waits says how long it still can', () => {
    const advice = operationAdvice({ status: 'pending_approval', expires_at: minutes(90) }, NOW);
    expect(advice?.title).toBe('Waits for a second person, 1 h 30 min left');
  });

  it('that nobody confirmed in time is overdue', () => {
    const advice = operationAdvice({ status: 'unconfirmed', expires_at: minutes(-60) }, NOW);
    expect(advice).toMatchObject({ tone: 'bad', title: 'Unconfirmed, overdue by 1 h' });
  });

  it('that failed because its subject changed says so', () => {
    expect(operationAdvice({ status: 'failed', failure: { code: 'changed' } }, NOW)?.title).toContain(
      'changed',
    );
  });
});

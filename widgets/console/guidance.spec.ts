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
  const pending = (check: object) => ({ status: 'pending', check });

  it('needs nothing once it is received', () => {
    expect(payoutGuidance({ status: 'received', check: { next_at: minutes(-60) } }, NOW)).toBeNull();
  });

  it('whose check is late points to the workers, after any last check', () => {
    const guidance = payoutGuidance(pending({ last_finding: 'not_found', next_at: minutes(-90) }), NOW);
    expect(guidance).toMatchObject({ tone: 'bad', title: 'Its check is late by 1 h 30 min' });
  });

  it('whose first check is late by a minute is not said to be checked within seconds', () => {
    const guidance = payoutGuidance(pending({ last_at: null, next_at: minutes(-2) }), NOW);
    expect(guidance).toMatchObject({ tone: 'bad', title: 'Its check is late by 2 min' });
  });

  it('that somebody changed in the database is a sign of tampering', () => {
    const guidance = payoutGuidance(pending({ last_finding: 'row_changed', next_at: minutes(1) }), NOW);
    expect(guidance).toMatchObject({
      tone: 'bad',
      text: expect.stringContaining('audit -- verify') as unknown,
    });
  });

  it('that waits for the next block is not a concern', () => {
    const guidance = payoutGuidance(pending({ last_finding: 'confirming', next_at: minutes(1) }), NOW);
    expect(guidance).toMatchObject({ tone: 'busy', text: expect.stringMatching(/^Nothing/) as unknown });
  });

  it('whose nodes do not respond points to the nodes', () => {
    const guidance = payoutGuidance(
      pending({ last_at: minutes(-1), last_finding: null, next_at: minutes(1) }),
      NOW,
    );
    expect(guidance?.title).toContain('no node had a usable response');
    expect(guidance?.text).toContain('under System');
  });

  it('has not been checked yet: no node is blamed', () => {
    expect(payoutGuidance(pending({ last_at: null, next_at: minutes(1) }), NOW)?.title).toContain(
      'first check',
    );
  });

  it('with another amount is a matter of the merchant', () => {
    const guidance = payoutGuidance(pending({ last_finding: 'wrong_amount', next_at: minutes(1) }), NOW);
    expect(guidance).toMatchObject({ tone: 'warn', text: expect.stringContaining('merchant') as unknown });
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

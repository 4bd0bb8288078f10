import { describe, expect, it } from '@jest/globals';
import { brokenRules } from '../../../../test/support/broken-rules.js';
import type { DomainEvent } from '../../../kernel/aggregate.js';
import { onboardingHistory } from './history.js';

const person = { user_id: 'u', merchant_id: 'm' };
const minute = (n: number): string => `2026-01-01T00:${String(n).padStart(2, '0')}:00.000Z`;
const event = (type: string, at: string, more: object = {}): DomainEvent => ({
  type: `onboarding.${type}.v1`,
  data: { ...person, at, ...more },
});
const sealed = (n: number) => ({
  first_name: `sealed ${n}`,
  last_name: `sealed ${n}`,
  date_of_birth: `sealed ${n}`,
});
const BEGUN = [
  event('started', minute(0)),
  event('phone_verified', minute(1)),
  event('consent_given', minute(2), { terms_version: '1', privacy_version: '1' }),
  event('details_confirmed', minute(2), sealed(1)),
];

const brokenOf = (events: readonly DomainEvent[]) => brokenRules(onboardingHistory, 'u', events);

describe('the audit of an onboarding', () => {
  it('accepts details that the person corrects several times before the identity check', () => {
    const corrected = [
      event('details_confirmed', minute(3), sealed(2)),
      event('details_confirmed', minute(4), sealed(3)),
    ];
    expect(brokenOf([...BEGUN, ...corrected]).filter(Boolean)).toEqual([]);
  });

  it('accepts details that are confirmed again after a failed identity check', () => {
    const failed = [
      event('kyc_submitted', minute(5), { verification_id: 'v' }),
      event('kyc_failed', minute(6), { verification_id: 'v', provider: 'sandbox', reason: 'blurred' }),
      event('details_confirmed', minute(7), sealed(1)),
      event('kyc_submitted', minute(8), { verification_id: 'w' }),
    ];
    expect(brokenOf([...BEGUN, ...failed]).filter(Boolean)).toEqual([]);
  });

  it('accepts consent to terms of a new version without a change of the details', () => {
    const agreed = event('consent_given', minute(3), { terms_version: '2', privacy_version: '1' });
    expect(brokenOf([...BEGUN, agreed]).filter(Boolean)).toEqual([]);
  });

  it.each([
    ['details after the identity check began', [event('kyc_submitted', minute(5), { verification_id: 'v' })]],
    [
      'details for the 21st time within a day',
      Array.from({ length: 19 }, (_, n) => event('details_confirmed', minute(n + 3), sealed(n))),
    ],
  ])('rejects %s', (_what, before) => {
    const events = [...BEGUN, ...before, event('details_confirmed', minute(30), sealed(9))];
    expect(brokenOf(events).at(-1)).not.toBeNull();
  });
});

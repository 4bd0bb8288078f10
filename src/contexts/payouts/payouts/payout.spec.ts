import { describe, expect, it } from '@jest/globals';
import { brokenRules } from '../../../../test/support/broken-rules.js';
import { evidenceAt, FACTS } from '../../../../test/support/payouts/evidence.js';
import { givenOf } from '../../../../test/support/given.js';
import { fold, type DomainEvent } from '../../../kernel/aggregate.js';
import type { Payee } from '../../users/users.contract.js';
import { payoutHistory } from './history.js';
import type {
  PayoutEvent,
  PayoutExpired,
  PayoutFacts,
  PayoutReceived,
  PayoutReported,
} from './payout-events.js';
import { Fault } from '../../../kernel/fault.js';
import { expire, payout, readPayoutAmount, receive, report, type PayoutState } from './payout.js';

const at = '2026-01-02T03:04:05.000Z';
const expiresAt = '2026-01-03T03:04:05.000Z';
const later = '2026-01-03T03:04:05.001Z';

const reported: PayoutReported = {
  type: 'payout.reported.v1',
  data: { ...FACTS, created_at: at, expires_at: expiresAt },
};
const received: PayoutReceived = {
  type: 'payout.received.v2',
  data: { ...FACTS, ...evidenceAt(3), received_at: at, created_at: at },
};
const expired: PayoutExpired = {
  type: 'payout.expired.v1',
  data: { ...FACTS, reason: 'gone', expired_at: later },
};

const active: Payee = { accountState: 'active', merchantId: 'm', issuerWalletAddress: '0xW' };

const given = givenOf(payout);

const reporting =
  (payee: Payee, other: Partial<PayoutFacts> = {}) =>
  (state: PayoutState) =>
    report({ ...reported.data, ...other }, payee, state);
const receiving = (state: PayoutState) => receive({ evidence: evidenceAt(3), at }, state);
const expiring = (when: string) => (state: PayoutState) => expire({ reason: 'gone', at: when }, state);

describe('reporting a payout', () => {
  it('records the payout of an active user', () => given().when(reporting(active)).then(reported));

  it('records the payout of a user who is still onboarding, because the money has moved', () =>
    given()
      .when(reporting({ accountState: 'onboarding', merchantId: 'm', issuerWalletAddress: null }))
      .then(reported));

  it('is refused for a user who does not exist', () =>
    given()
      .when(reporting({ accountState: 'unknown' }))
      .thenRefused('not_found'));

  it('is refused for the user of another merchant', () =>
    given()
      .when(reporting({ ...active, merchantId: 'm2' }))
      .thenRefused('not_found'));

  it.each(['deactivating', 'deactivated'] as const)('is refused for a user who is %s', (accountState) =>
    given()
      .when(reporting({ accountState, merchantId: 'm', issuerWalletAddress: '0xW' }))
      .thenRefused('invalid_transition'),
  );

  it('changes nothing if the same report is repeated, even after payout and user have changed', () => {
    given(reported).when(reporting(active)).then();
    given(reported, received)
      .when(reporting({ accountState: 'unknown' }))
      .then();
  });

  it.each([
    { amount: '12.5' },
    { user_id: 'u2' },
    { transaction_hash: '0xab' },
    { custom_metadata: '{}' },
    { merchant_id: 'm2' },
  ])('is refused if an earlier report with the same id differs in %j', (other) =>
    given(reported).when(reporting(active, other)).thenRefused('validation_failed'),
  );
});

describe('the amount of a reported payout', () => {
  it.each([
    ['0.000001', '0.000001'],
    ['012.50', '12.50'],
    ['10000', '10000'],
  ])('can be %s', (text, amount) => {
    expect(readPayoutAmount(text)).toBe(amount);
  });

  it.each([
    ['0', 'must be greater than 0'],
    ['10000.000001', 'must be at most 10000'],
    ['1.0000001', 'must be a decimal string with at most 6 decimals'],
    [12.5, 'must be a decimal string with at most 6 decimals'],
  ])('cannot be %s', (value, message) => {
    expect(readPayoutAmount(value)).toEqual(new Fault(message));
  });
});

describe('receiving a payout', () => {
  it('records a pending payout as received, with the evidence of its transfer', () =>
    given(reported).when(receiving).then(received));
  it('has no effect on a payout that was never reported', () => given().when(receiving).then());
  it('happens only once', () => given(reported, received).when(receiving).then());
  it('stores the observed transfer as evidence', () => {
    expect(fold(payout, [reported, received])).toMatchObject({ status: 'received', received: received.data });
  });
  it('cannot follow an expiry', () => given(reported, expired).when(receiving).then());
});

describe('expiring a payout', () => {
  it('ends a pending payout at the end of its window', () =>
    given(reported)
      .when(expiring(expiresAt))
      .then({ ...expired, data: { ...expired.data, expired_at: expiresAt } }));
  it('has no effect one millisecond before the end of its window', () =>
    given(reported).when(expiring('2026-01-03T03:04:04.999Z')).then());
  it('has no effect on a payout that was never reported', () => given().when(expiring(later)).then());
  it('happens only once', () => given(reported, expired).when(expiring(later)).then());
  it('has no effect on a received payout', () => given(reported, received).when(expiring(later)).then());
});

describe('the state of a payout', () => {
  it('retains the first outcome even if a faulty history contains another', () => {
    expect(fold(payout, [reported, received, expired]).status).toBe('received');
    expect(fold(payout, [reported, expired, received])).toMatchObject({ status: 'expired', reason: 'gone' });
    expect(fold(payout, [received, expired]).status).toBe('unreported');
  });
});

const changed = ({ type, data }: PayoutEvent, over: object): DomainEvent => ({
  type,
  data: { ...data, ...over },
});
const brokenOf = (...events: readonly DomainEvent[]) => brokenRules(payoutHistory, 'p', events);

describe('the audit of a payout', () => {
  it.each([
    ['received with its evidence', received],
    ['expired at the end of its window', expired],
  ])('accepts a payout that is %s', (_what, outcome) => {
    expect(brokenOf(reported, outcome)).toEqual([null, null]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['is reported twice', [reported, reported], 'it is reported once, and pending already'],
    ['is reported after it was received', [reported, received, reported], 'once, and received already'],
    [
      'has an amount above 10,000 USDC',
      [changed(reported, { amount: '10000.01' })],
      'its amount 10000.01 is out of bounds',
    ],
    ['has the amount 0', [changed(reported, { amount: '0' })], 'its amount 0 is out of bounds'],
    ['is received without a report', [received], 'it is reported before it ends'],
    ['expires without a report', [expired], 'it is reported before it ends'],
    ['is received twice', [reported, received, received], 'it ends once, and is received already'],
    ['expires after it was received', [reported, received, expired], 'it ends once, and is received'],
    ['is received after it expired', [reported, expired, received], 'it ends once, and is expired already'],
    [
      'is received with another amount',
      [reported, changed(received, { amount: '13' })],
      'its amount is "13"',
    ],
    [
      'is received with a changed time of the report',
      [reported, changed(received, { created_at: later })],
      'its created_at is',
    ],
    [
      'expires a millisecond before the end of its window',
      [reported, changed(expired, { expired_at: '2026-01-03T03:04:04.999Z' })],
      `it expires before its window has passed, on ${expiresAt}`,
    ],
    ['is in the stream of another payout', [changed(reported, { payout_id: 'q' })], 'its payout_id is q'],
  ])('names the broken rule of a payout that %s', (_what, events, rule) => {
    expect(brokenOf(...events).at(-1)).toContain(rule);
  });

  it('keeps in memory only the status of an ended payout', () => {
    const stateAfter = (...events: readonly DomainEvent[]): unknown =>
      events.reduce((state, event) => payoutHistory.evaluate(state, event, 'p').state, payoutHistory.initial);
    expect(stateAfter(reported)).toMatchObject({ status: 'pending', reported: FACTS });
    expect(stateAfter(reported, received)).toEqual({ status: 'received' });
    expect(stateAfter(reported, expired)).toEqual({ status: 'expired' });
  });
});

import { describe, expect, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import { fold } from '../../../kernel/aggregate.js';
import {
  completeOnboarding,
  confirmDetails,
  recordCard,
  recordCardFailure,
  recordKycOutcome,
  recordWallet,
  retryCard,
  startOnboarding,
  submitKyc,
  verifyPhone,
  type KycOutcome,
} from './decisions.js';
import { REQUIRED_IMAGES, type ImageKind } from '../identity/image-kind.js';
import { onboarding, type OnboardingEvent, type Onboarding } from './onboarding.js';

const at = '2026-01-02T03:04:05.000Z';
const common = { user_id: 'u1', merchant_id: 'm1', at };
const wallet = '0x52908400098527886E0F7030069857D2E4169EE7';
const details = { first_name: 'Ada', last_name: 'Lovelace', date_of_birth: '1815-12-10' };
const phone = '+15550001111';

const consent = { terms_version: 't1', privacy_version: 'p1' };
const event = (type: string, more: object = {}): OnboardingEvent =>
  ({ type: `onboarding.${type}.v1`, data: { ...common, ...more } }) as OnboardingEvent;
const verified = (verification_id: string) => ({ verification_id, provider: 'p' });

const started = event('started');
const phoneVerified = event('phone_verified');
const consentGiven = event('consent_given', consent);
const detailsConfirmed = event('details_confirmed', details);
const submitted = (verification_id = 'v1') => event('kyc_submitted', { verification_id });
const passedBy = (verification: string) => event('kyc_passed', verified(verification));
const failedBy = (verification: string) =>
  event('kyc_failed', { ...verified(verification), reason: 'document unreadable' });
const failed = failedBy('v1');
const walletProvisioned = event('wallet_provisioned', { issuer_wallet_address: wallet });
const cardIssued = event('card_issued', { card_id: 'c1' });
const completed = event('completed', { issuer_wallet_address: wallet });
/** What each of the steps below adds. */
const ADDED: readonly OnboardingEvent[][] = [
  [started],
  [phoneVerified],
  [consentGiven, detailsConfirmed],
  [submitted()],
  [passedBy('v1')],
  [walletProvisioned],
  [cardIssued],
  [completed],
];
const HISTORY = ADDED.flat();
const before = (step: number): OnboardingEvent[] => ADDED.slice(0, step).flat();
const [CONFIRM, SUBMIT, PASS, CARD, COMPLETE] = [2, 3, 4, 6, 7] as const;

type Decide = (state: Onboarding) => OnboardingEvent[];
const given = givenOf(onboarding);

const start: Decide = (state) => startOnboarding(common, state);
const verify: Decide = (state) => verifyPhone({ verifiedPhone: phone, profilePhone: phone, at }, state);
const confirm: Decide = (state) => confirmDetails({ details, consent, minimumAge: 18, at }, state);
const submit: Decide = (state) => submitKyc({ verification_id: 'v1', images: REQUIRED_IMAGES, at }, state);
const record =
  (outcome: KycOutcome, verification_id = 'v1'): Decide =>
  (state) =>
    recordKycOutcome({ verification_id, provider: 'p', outcome, at }, state);
const provision: Decide = (state) =>
  recordWallet({ issuer_wallet_address: wallet, derivation: null, at }, state);
const card: Decide = (state) => recordCard({ card_id: 'c1', at }, state);
const complete: Decide = (state) => completeOnboarding({ at }, state);
const STEPS = [start, verify, confirm, submit, record({ passed: true }), provision, card, complete];

describe('an onboarding', () => {
  it('goes step by step from the start to the end', () => {
    ADDED.forEach((events, index) => {
      given(...before(index))
        .when(STEPS[index]!)
        .then(...events);
    });
    expect(fold(onboarding, HISTORY)).toMatchObject({ stage: 'completed', issuer_wallet_address: wallet });
  });

  it('accepts each step once; a repeat at any later point changes nothing', () => {
    STEPS.forEach((step, index) => {
      for (let length = index + 1; length <= ADDED.length; length++) {
        given(...before(length))
          .when(step)
          .then();
      }
    });
  });

  it('refuses a step that is out of order', () => {
    for (const [step, history] of [
      [confirm, [started]],
      [submit, [started, phoneVerified]],
      [provision, before(PASS)],
      [provision, [...before(PASS), failed]],
      [card, before(CARD - 1)],
      [complete, before(COMPLETE - 1)],
    ] as const) {
      given(...history)
        .when(step)
        .thenRefused('invalid_transition');
    }
    for (const step of [verify, confirm, submit, provision, card, complete]) {
      given().when(step).thenRefused('not_found');
      expect(() => step(onboarding.initial)).toThrow('Onboarding not found');
    }
  });

  it("rejects a verified phone number other than the profile's", () => {
    const verifyOther: Decide = (state) =>
      verifyPhone({ verifiedPhone: '+15550002222', profilePhone: phone, at }, state);
    given(started)
      .when(verifyOther)
      .thenRefused('validation_failed', { phone_number: ['is not the phone number of this account'] });
  });

  it('allows a second attempt after a failed verification and ignores late outcomes of the first', () => {
    const afterFailure = [...before(PASS), failed];
    given(...before(PASS))
      .when(record({ passed: false, reason: 'document unreadable' }))
      .then(failed);
    given(...afterFailure)
      .when(confirm)
      .then(detailsConfirmed);
    given(...afterFailure)
      .when(submit)
      .then(submitted());
    const again = [...afterFailure, detailsConfirmed, submitted('v2')];
    given(...again)
      .when(record({ passed: true }))
      .then();
    given(...again)
      .when(record({ passed: true }, 'v2'))
      .then(passedBy('v2'));
  });

  it.each([{ first_name: 'Augusta' }, { last_name: 'Byron' }, { date_of_birth: '1815-12-11' }])(
    'accepts a change of one detail until the details are submitted: %j',
    (other) => {
      const corrected = { ...details, ...other };
      given(...before(SUBMIT))
        .when((state) => confirmDetails({ details: corrected, consent, minimumAge: 18, at }, state))
        .then(event('details_confirmed', corrected));
      given(...before(SUBMIT), submitted())
        .when((state) => confirmDetails({ details: corrected, consent, minimumAge: 18, at }, state))
        .then();
    },
  );

  it('refuses a submission without the required images', () => {
    const only =
      (...images: ImageKind[]): Decide =>
      (state) =>
        submitKyc({ verification_id: 'v1', images, at }, state);
    const missing = ['is missing; upload it first'];
    given(...before(SUBMIT))
      .when(only('document_back'))
      .thenRefused('validation_failed', { document_front: missing, selfie: missing });
    given(...before(SUBMIT))
      .when(only('document_front'))
      .thenRefused('validation_failed', { selfie: missing });
    given(...before(SUBMIT), submitted())
      .when(only())
      .then();
  });

  it('refuses the fourth identity check within an hour', () => {
    const tries = ['v0', 'v1', 'v2'].map((verification) => [submitted(verification), failedBy(verification)]);
    const history = [...before(SUBMIT), ...tries.flat()];
    given(...history)
      .when(submit)
      .thenRefused('rate_limited');
    given(...history.slice(0, -2))
      .when(submit)
      .then(submitted());
  });

  it('has the same state from a snapshot at any point as from all events', () => {
    const { pack, unpack, subject } = onboarding.snapshots!;
    HISTORY.forEach((_, index) => {
      const state = fold(onboarding, HISTORY.slice(0, index));
      const kept = unpack(JSON.parse(JSON.stringify(pack(state))));
      expect(fold(onboarding, HISTORY.slice(index), kept)).toEqual(fold(onboarding, HISTORY));
      expect(subject!(state)).toBe(index === 0 ? null : 'u1');
    });
  });

  it('has a snapshot of exactly this shape, because another shape needs another version', () => {
    const { version, pack } = onboarding.snapshots!;
    expect({ version, kept: pack(fold(onboarding, HISTORY)) }).toEqual({
      version: 5,
      kept: {
        stage: 'completed',
        user_id: 'u1',
        merchant_id: 'm1',
        details,
        consent,
        verification_id: 'v1',
        submitted_at: at,
        issuer_wallet_address: wallet,
        card_attempt: 1,
        tries: { details: [at], checks: [at], cards: [] },
      },
    });
  });

  it('refuses a person who reaches the minimum age one day later', () => {
    const born = (date_of_birth: string): Decide => {
      const command = { details: { ...details, date_of_birth }, consent, minimumAge: 18, at };
      return (state) => confirmDetails(command, state);
    };
    given(...before(CONFIRM))
      .when(born('2008-01-03'))
      .thenRefused('validation_failed');
    expect(born('2008-01-02')(fold(onboarding, before(CONFIRM)))).toHaveLength(2);
  });

  it.each([[{ terms_version: 't2' }], [{ privacy_version: 'p2' }]])(
    'records a consent to another version: %j',
    (other) => {
      given(...before(SUBMIT))
        .when((state) =>
          confirmDetails({ details, consent: { ...consent, ...other }, minimumAge: 18, at }, state),
        )
        .then(event('consent_given', { ...consent, ...other }));
    },
  );

  it('refuses a submission to the identity check without a consent', () =>
    given(started, phoneVerified, detailsConfirmed).when(submit).thenRefused('invalid_transition'));

  describe('after its card failed', () => {
    const fail =
      (attempt: number): Decide =>
      (state) =>
        recordCardFailure({ attempt, reason: 'no', at }, state);
    const retry: Decide = (state) => retryCard({ at }, state);
    const cardFailed = event('card_failed', { reason: 'no' });
    const retried = event('card_retried');

    it('has a reason and continues after a retry', () => {
      given(...before(CARD))
        .when(fail(1))
        .then(cardFailed);
      given(...before(CARD), cardFailed)
        .when(retry)
        .then(retried);
      given(...before(CARD), cardFailed, retried)
        .when(card)
        .then(cardIssued);
      given(...before(CARD), cardFailed, retried)
        .when(fail(2))
        .then(cardFailed);
    });

    it('records each failed attempt once and still accepts a late card', () => {
      given(...before(CARD), cardFailed, retried)
        .when(fail(1))
        .then();
      given(...before(CARD), cardFailed)
        .when(card)
        .then(cardIssued);
      given(...HISTORY)
        .when(fail(1))
        .then();
      given(...HISTORY)
        .when(retry)
        .then();
    });

    it('can retry the card three times within an hour', () => {
      const history = Array.from({ length: 3 }, () => [cardFailed, retried]).flat();
      given(...before(CARD), ...history, cardFailed)
        .when(retry)
        .thenRefused('rate_limited');
    });
  });
});

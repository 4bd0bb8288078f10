import { describe, expect, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import { fold } from '../../../kernel/aggregate.js';
import {
  completeOnboarding,
  confirmDetails,
  onboarding,
  recordCard,
  recordKycOutcome,
  recordWallet,
  startOnboarding,
  submitKyc,
  verifyPhone,
  type KycOutcome,
  type Onboarding,
  type OnboardingEvent,
} from './onboarding.js';

const at = '2026-01-02T03:04:05.000Z';
const common = { user_id: 'u1', merchant_id: 'm1', at };
const wallet = '0x52908400098527886E0F7030069857D2E4169EE7';
const details = { firstName: 'Ada', lastName: 'Lovelace', dateOfBirth: '1815-12-10' };
const phone = '+15550001111';

const started: OnboardingEvent = { type: 'onboarding.started.v1', data: common };
const phoneVerified: OnboardingEvent = { type: 'onboarding.phone_verified.v1', data: common };
const confirmedAs = (firstName: string): OnboardingEvent => ({
  type: 'onboarding.details_confirmed.v1',
  data: { ...common, first_name: firstName, last_name: 'Lovelace', date_of_birth: '1815-12-10' },
});
const detailsConfirmed = confirmedAs('Ada');
const submitted = (verification = 'v1'): OnboardingEvent => ({
  type: 'onboarding.kyc_submitted.v1',
  data: { ...common, verification_id: verification },
});
const passedBy = (verification: string): OnboardingEvent => ({
  type: 'onboarding.kyc_passed.v1',
  data: { ...common, verification_id: verification },
});
const passed = passedBy('v1');
const failed: OnboardingEvent = {
  type: 'onboarding.kyc_failed.v1',
  data: { ...common, verification_id: 'v1', reason: 'document unreadable' },
};
const walletProvisioned: OnboardingEvent = {
  type: 'onboarding.wallet_provisioned.v1',
  data: { ...common, issuer_wallet_address: wallet },
};
const cardIssued: OnboardingEvent = { type: 'onboarding.card_issued.v1', data: { ...common, card_id: 'c1' } };
const completed: OnboardingEvent = {
  type: 'onboarding.completed.v1',
  data: { ...common, issuer_wallet_address: wallet },
};
const HISTORY = [
  started,
  phoneVerified,
  detailsConfirmed,
  submitted(),
  passed,
  walletProvisioned,
  cardIssued,
  completed,
];

type Decide = (state: Onboarding) => OnboardingEvent[];
const given = givenOf(onboarding);

const start: Decide = (state) => startOnboarding({ userId: 'u1', merchantId: 'm1', at }, state);
const verify: Decide = (state) => verifyPhone({ verifiedPhone: phone, profilePhone: phone, at }, state);
const confirm: Decide = (state) => confirmDetails({ details, at }, state);
const submit: Decide = (state) => submitKyc({ verificationId: 'v1', at }, state);
const record =
  (outcome: KycOutcome, verificationId = 'v1'): Decide =>
  (state) =>
    recordKycOutcome({ verificationId, outcome, at }, state);
const provision: Decide = (state) => recordWallet({ issuerWalletAddress: wallet, at }, state);
const card: Decide = (state) => recordCard({ cardId: 'c1', at }, state);
const complete: Decide = (state) => completeOnboarding({ at }, state);
const STEPS = [start, verify, confirm, submit, record({ passed: true }), provision, card, complete];

describe('an onboarding', () => {
  it('goes step by step from the start to the end', () => {
    HISTORY.forEach((event, index) => {
      given(...HISTORY.slice(0, index))
        .when(STEPS[index]!)
        .then(event);
    });
    expect(fold(onboarding, HISTORY)).toMatchObject({ stage: 'completed', issuerWalletAddress: wallet });
  });

  it('takes each step once: a repeat at any later point changes nothing', () => {
    STEPS.forEach((step, index) => {
      for (let length = index + 1; length <= HISTORY.length; length++) {
        given(...HISTORY.slice(0, length))
          .when(step)
          .then();
      }
    });
  });

  it('refuses a step out of turn', () => {
    for (const [step, history] of [
      [confirm, [started]],
      [submit, [started, phoneVerified]],
      [provision, [started, phoneVerified, detailsConfirmed, submitted()]],
      [provision, [started, phoneVerified, detailsConfirmed, submitted(), failed]],
      [card, HISTORY.slice(0, 5)],
      [complete, HISTORY.slice(0, 6)],
    ] as const) {
      given(...history)
        .when(step)
        .thenRefused('invalid_transition');
    }
    for (const step of [verify, confirm, submit, provision, card, complete]) {
      given().when(step).thenRefused('not_found');
    }
  });

  it('links nothing when the verified phone is not the one of the profile', () => {
    const verifyOther: Decide = (state) =>
      verifyPhone({ verifiedPhone: '+15550002222', profilePhone: phone, at }, state);
    given(started).when(verifyOther).thenRefused('validation_failed');
  });

  it('lets a failed verification be tried again with other details', () => {
    const afterFailure = [started, phoneVerified, detailsConfirmed, submitted(), failed];
    given(...HISTORY.slice(0, 4))
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

  it('takes other details until they are submitted', () => {
    const other: Decide = (state) =>
      confirmDetails({ details: { ...details, firstName: 'Augusta' }, at }, state);
    const confirmed = HISTORY.slice(0, 3);
    given(...confirmed)
      .when(other)
      .then(confirmedAs('Augusta'));
    given(...confirmed, submitted())
      .when(other)
      .then();
  });

  it('counts identity checks from its own events', () => {
    const tries = Array.from({ length: 3 }, (_, n) => [
      submitted(`v${n}`),
      { ...failed, data: { ...failed.data, verification_id: `v${n}` } },
    ]);
    const history = [...HISTORY.slice(0, 3), ...tries.flat()];
    given(...history)
      .when(submit)
      .thenRefused('rate_limited');
    given(...history.slice(0, -2))
      .when(submit)
      .then(submitted());
  });

  it('goes on from a snapshot at any point as from its events', () => {
    const { pack, unpack, subject } = onboarding.snapshots!;
    HISTORY.forEach((_, index) => {
      const before = fold(onboarding, HISTORY.slice(0, index));
      const kept = unpack(JSON.parse(JSON.stringify(pack(before))));
      expect(fold(onboarding, HISTORY.slice(index), kept)).toEqual(fold(onboarding, HISTORY));
      expect(subject!(before)).toBe(index === 0 ? null : 'u1');
    });
  });

  it('is kept in this shape: another one needs another version', () => {
    const { version, pack } = onboarding.snapshots!;
    expect({ version, kept: pack(fold(onboarding, HISTORY)) }).toEqual({
      version: 1,
      kept: {
        ...{ stage: 'completed', userId: 'u1', merchantId: 'm1', details, verificationId: 'v1' },
        ...{ issuerWalletAddress: wallet, tries: { details: [at], checks: [at] } },
      },
    });
  });
});

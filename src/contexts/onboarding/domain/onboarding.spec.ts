import { describe, expect, it } from '@jest/globals';
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
const detailsConfirmed: OnboardingEvent = {
  type: 'onboarding.details_confirmed.v1',
  data: { ...common, first_name: 'Ada', last_name: 'Lovelace', date_of_birth: '1815-12-10' },
};
const submitted = (verification = 'v1'): OnboardingEvent => ({
  type: 'onboarding.kyc_submitted.v1',
  data: { ...common, verification_id: verification },
});
const passed: OnboardingEvent = {
  type: 'onboarding.kyc_passed.v1',
  data: { ...common, verification_id: 'v1' },
};
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
function given(...history: OnboardingEvent[]): { when: (decide: Decide) => () => OnboardingEvent[] } {
  return { when: (decide) => () => decide(fold(onboarding, history)) };
}

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
      expect(given(...HISTORY.slice(0, index)).when(STEPS[index]!)()).toEqual([event]);
    });
    expect(fold(onboarding, HISTORY)).toMatchObject({ stage: 'completed', issuerWalletAddress: wallet });
  });

  it('takes each step once: a repeat at any later point changes nothing', () => {
    STEPS.forEach((step, index) => {
      for (let length = index + 1; length <= HISTORY.length; length++) {
        expect(given(...HISTORY.slice(0, length)).when(step)()).toEqual([]);
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
      expect(given(...history).when(step)).toThrow(expect.objectContaining({ code: 'invalid_transition' }));
    }
    for (const step of [verify, confirm, submit, provision, card, complete]) {
      expect(given().when(step)).toThrow(expect.objectContaining({ code: 'not_found' }));
    }
  });

  it('links nothing when the verified phone is not the one of the profile', () => {
    const verifyOther: Decide = (state) =>
      verifyPhone({ verifiedPhone: '+15550002222', profilePhone: phone, at }, state);
    expect(given(started).when(verifyOther)).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  });

  it('lets a failed verification be tried again with other details', () => {
    const afterFailure = [started, phoneVerified, detailsConfirmed, submitted(), failed];
    expect(
      given(...HISTORY.slice(0, 4)).when(record({ passed: false, reason: 'document unreadable' }))(),
    ).toEqual([failed]);
    expect(given(...afterFailure).when(confirm)()).toEqual([detailsConfirmed]);
    expect(given(...afterFailure).when(submit)()).toEqual([submitted()]);
    const again = [...afterFailure, detailsConfirmed, submitted('v2')];
    expect(given(...again).when(record({ passed: true }))()).toEqual([]);
    expect(given(...again).when(record({ passed: true }, 'v2'))()).toHaveLength(1);
  });

  it('takes other details until they are submitted', () => {
    const other: Decide = (state) =>
      confirmDetails({ details: { ...details, firstName: 'Augusta' }, at }, state);
    const confirmed = HISTORY.slice(0, 3);
    expect(given(...confirmed).when(other)()).toMatchObject([{ data: { first_name: 'Augusta' } }]);
    expect(given(...confirmed, submitted()).when(other)()).toEqual([]);
  });

  it('counts identity checks from its own events', () => {
    const tries = Array.from({ length: 3 }, (_, n) => [
      submitted(`v${n}`),
      { ...failed, data: { ...failed.data, verification_id: `v${n}` } },
    ]);
    const history = [...HISTORY.slice(0, 3), ...tries.flat()];
    expect(given(...history).when(submit)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
    expect(given(...history.slice(0, -2)).when(submit)()).toHaveLength(1);
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

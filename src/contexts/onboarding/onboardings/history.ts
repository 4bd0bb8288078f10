import { historyRules } from '../../../kernel/history-rules.js';
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
} from './decisions.js';
import { REQUIRED_IMAGES } from '../identity/image-kind.js';
import { onboarding } from './onboarding.js';

/** The placeholder of personal fields, which are sealed or erased in events. */
const DETAILS = { first_name: '', last_name: '', date_of_birth: '1900-01-01' };
/** Sealed details cannot be compared, so they count as changed. */
const OTHER_DETAILS = { ...DETAILS, first_name: 'other' };
const CONSENT = { terms_version: '', privacy_version: '' };

export const onboardingHistory = historyRules(
  onboarding,
  {
    'onboarding.started.v1': startOnboarding,
    'onboarding.phone_verified.v1': ({ at }, state) =>
      verifyPhone({ verifiedPhone: '', profilePhone: '', at }, state),
    'onboarding.consent_given.v1': (consent, state) =>
      confirmDetails({ details: DETAILS, consent, minimumAge: 0, at: consent.at }, state),
    'onboarding.details_confirmed.v1': ({ at, first_name, last_name, date_of_birth }, state) => {
      const consent = ('consent' in state ? state.consent : null) ?? CONSENT;
      const decided = confirmDetails({ details: OTHER_DETAILS, consent, minimumAge: 0, at }, state);
      return decided.map((event) =>
        event.type === 'onboarding.details_confirmed.v1'
          ? { ...event, data: { ...event.data, first_name, last_name, date_of_birth } }
          : event,
      );
    },
    'onboarding.kyc_submitted.v1': ({ verification_id, at }, state) =>
      submitKyc({ verification_id, images: REQUIRED_IMAGES, at }, state),
    'onboarding.kyc_passed.v1': (data, state) =>
      recordKycOutcome({ ...data, outcome: { passed: true } }, state),
    'onboarding.kyc_failed.v1': (data, state) =>
      recordKycOutcome({ ...data, outcome: { passed: false, reason: data.reason } }, state),
    'onboarding.wallet_provisioned.v1': ({ issuer_wallet_address, derivation = null, at }, state) =>
      recordWallet({ issuer_wallet_address, derivation, at }, state),
    'onboarding.card_issued.v1': recordCard,
    'onboarding.card_failed.v1': ({ reason, at }, state) =>
      recordCardFailure({ attempt: 'card_attempt' in state ? state.card_attempt : 0, reason, at }, state),
    'onboarding.card_retried.v1': retryCard,
    'onboarding.completed.v1': completeOnboarding,
  },
  { id: 'user_id', remember: (state) => ('details' in state ? { ...state, details: DETAILS } : state) },
);

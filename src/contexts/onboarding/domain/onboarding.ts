import type { Aggregate } from '../../../kernel/aggregate.js';
import { ONBOARDING_EVENTS, type OnboardingEvent } from './onboarding-events.js';
import { NO_TRIES, withTry, type Tries } from './tries.js';

/** The person's details; dates of birth are `YYYY-MM-DD`. */
export interface Details {
  readonly firstName: string;
  readonly lastName: string;
  readonly dateOfBirth: string;
}

/** What the person agreed to. */
export interface Consent {
  readonly termsVersion: string;
  readonly privacyVersion: string;
}

export interface Started {
  readonly userId: string;
  readonly merchantId: string;
}
/** From the verified phone on. */
interface Verified extends Started {
  readonly tries: Tries;
  /** Null until it is given, with the details. */
  readonly consent: Consent | null;
}
interface Detailed extends Verified {
  readonly details: Details;
}
export interface Submitted extends Detailed {
  readonly verificationId: string;
  readonly submittedAt: string;
}
export interface WithWallet extends Submitted {
  readonly issuerWalletAddress: string;
  /** How often the issuer was asked for the card, from 1. */
  readonly cardAttempt: number;
}

export type Onboarding =
  | { readonly stage: 'not_started' }
  | ({ readonly stage: 'started' } & Started)
  | ({ readonly stage: 'phone_verified' } & Verified)
  | ({ readonly stage: 'details_confirmed' } & Detailed)
  | ({ readonly stage: 'kyc_submitted' | 'kyc_passed' } & Submitted)
  | ({ readonly stage: 'kyc_failed'; readonly reason: string } & Submitted)
  | ({ readonly stage: 'wallet_provisioned' | 'card_issued' | 'completed' } & WithWallet)
  | ({ readonly stage: 'card_failed'; readonly reason: string } & WithWallet);
export type Stage = Onboarding['stage'];

export const onboarding: Aggregate<Onboarding, OnboardingEvent> = {
  category: 'onboarding',
  initial: { stage: 'not_started' },
  snapshots: {
    version: 2,
    events: ONBOARDING_EVENTS,
    pack: (state) => state,
    unpack: (packed) => packed as Onboarding,
    subject: (state) => ('userId' in state ? state.userId : null),
  },
  evolve(state, event) {
    const { user_id: userId, merchant_id: merchantId, at } = event.data;
    if (event.type === 'onboarding.started.v1') return { stage: 'started', userId, merchantId };
    const { tries, consent } = 'tries' in state ? state : { tries: NO_TRIES, consent: null };
    const person: Verified = { userId, merchantId, tries, consent };
    switch (event.type) {
      case 'onboarding.phone_verified.v1':
        return { stage: 'phone_verified', ...person };
      case 'onboarding.consent_given.v1': {
        const { terms_version: termsVersion, privacy_version: privacyVersion } = event.data;
        return 'tries' in state ? { ...state, consent: { termsVersion, privacyVersion } } : state;
      }
      case 'onboarding.details_confirmed.v1': {
        const { first_name: firstName, last_name: lastName, date_of_birth: dateOfBirth } = event.data;
        const details = { firstName, lastName, dateOfBirth };
        return { stage: 'details_confirmed', ...person, tries: withTry(tries, 'details', at), details };
      }
      case 'onboarding.kyc_submitted.v1': {
        if (!('details' in state)) return state;
        const submitted = { verificationId: event.data.verification_id, submittedAt: at };
        const { details } = state;
        return {
          ...{ stage: 'kyc_submitted', ...person, details, ...submitted },
          tries: withTry(tries, 'checks', at),
        };
      }
      default:
        return 'verificationId' in state ? evolveSubmitted(state, event) : state;
    }
  },
};

type AfterSubmission = Exclude<
  OnboardingEvent,
  {
    type:
      | 'onboarding.started.v1'
      | 'onboarding.phone_verified.v1'
      | 'onboarding.consent_given.v1'
      | 'onboarding.details_confirmed.v1'
      | 'onboarding.kyc_submitted.v1';
  }
>;

function evolveSubmitted(state: Onboarding & Submitted, event: AfterSubmission): Onboarding {
  const { userId, merchantId, tries, consent, details, verificationId, submittedAt } = state;
  const submitted: Submitted = { userId, merchantId, tries, consent, details, verificationId, submittedAt };
  switch (event.type) {
    case 'onboarding.kyc_passed.v1':
      return { stage: 'kyc_passed', ...submitted };
    case 'onboarding.kyc_failed.v1':
      return { stage: 'kyc_failed', reason: event.data.reason, ...submitted };
    case 'onboarding.wallet_provisioned.v1': {
      const issuerWalletAddress = event.data.issuer_wallet_address;
      return { stage: 'wallet_provisioned', ...submitted, issuerWalletAddress, cardAttempt: 1 };
    }
    default:
      return 'issuerWalletAddress' in state ? evolveWithWallet(state, submitted, event) : state;
  }
}

type AfterWallet = Exclude<
  AfterSubmission,
  { type: 'onboarding.kyc_passed.v1' | 'onboarding.kyc_failed.v1' | 'onboarding.wallet_provisioned.v1' }
>;

function evolveWithWallet(state: WithWallet, submitted: Submitted, event: AfterWallet): Onboarding {
  const { issuerWalletAddress, cardAttempt } = state;
  const owner: WithWallet = { ...submitted, issuerWalletAddress, cardAttempt };
  switch (event.type) {
    case 'onboarding.card_issued.v1':
      return { stage: 'card_issued', ...owner };
    case 'onboarding.card_failed.v1':
      return { stage: 'card_failed', reason: event.data.reason, ...owner };
    case 'onboarding.card_retried.v1': {
      const tries = withTry(owner.tries, 'cards', event.data.at);
      return { stage: 'wallet_provisioned', ...owner, tries, cardAttempt: cardAttempt + 1 };
    }
    case 'onboarding.completed.v1':
      return { stage: 'completed', ...owner };
    default:
      event satisfies never;
      return { stage: 'wallet_provisioned', ...owner };
  }
}

/** The stages in the order they are reached; after a failed one the person goes back to the one before it. */
const ORDER: readonly Stage[] = [
  'not_started',
  'started',
  'phone_verified',
  'details_confirmed',
  'kyc_failed',
  'kyc_submitted',
  'kyc_passed',
  'wallet_provisioned',
  'card_failed',
  'card_issued',
  'completed',
];

/** Whether the onboarding has come to `stage` or further. */
export function reached(state: Onboarding, stage: Stage): boolean {
  return ORDER.indexOf(state.stage) >= ORDER.indexOf(stage);
}

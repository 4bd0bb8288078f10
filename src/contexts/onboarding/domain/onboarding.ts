import type { DomainEvent, Aggregate } from '../../../kernel/aggregate.js';
import { NO_TRIES, withTry, type Tries } from './tries.js';

interface Common {
  user_id: string;
  merchant_id: string;
  at: string;
}

interface Decided extends Common {
  /** Identifies one attempt towards the identity provider. */
  verification_id: string;
  provider: string;
}

/** The data of each event, by its stored name. */
interface OnboardingEventData {
  'onboarding.started.v1': Common;
  'onboarding.phone_verified.v1': Common;
  /** The versions of the terms and of the privacy notice that the person agreed to. */
  'onboarding.consent_given.v1': Common & Consent;
  /** The details are sealed in the store with the key of the person. */
  'onboarding.details_confirmed.v1': Common & Details;
  'onboarding.kyc_submitted.v1': Omit<Decided, 'provider'>;
  'onboarding.kyc_passed.v1': Decided;
  'onboarding.kyc_failed.v1': Decided & { reason: string };
  /** `derivation`: the path of a wallet of an extended public key; absent for others. */
  'onboarding.wallet_provisioned.v1': Common & {
    issuer_wallet_address: string;
    derivation?: WalletDerivation;
  };
  'onboarding.card_issued.v1': Common & { card_id: string };
  'onboarding.card_failed.v1': Common & { reason: string };
  'onboarding.card_retried.v1': Common;
  /** Follows the activation of the user, whose `account_state` is `active` by then. */
  'onboarding.completed.v1': Common & { issuer_wallet_address: string };
}
type Type = keyof OnboardingEventData;
export type OnboardingEventOf<Name extends Type> = DomainEvent<Name, OnboardingEventData[Name]>;
export type OnboardingEvent = { [Name in Type]: OnboardingEventOf<Name> }[Type];

export interface WalletDerivation {
  /** Fingerprint of the extended public key, eight hexadecimal digits. */
  readonly key: string;
  /** From that key on, for example `0/17`. */
  readonly path: string;
  readonly index: number;
}

const ONBOARDING_EVENTS = [
  'onboarding.started.v1',
  'onboarding.phone_verified.v1',
  'onboarding.consent_given.v1',
  'onboarding.details_confirmed.v1',
  'onboarding.kyc_submitted.v1',
  'onboarding.kyc_passed.v1',
  'onboarding.kyc_failed.v1',
  'onboarding.wallet_provisioned.v1',
  'onboarding.card_issued.v1',
  'onboarding.card_failed.v1',
  'onboarding.card_retried.v1',
  'onboarding.completed.v1',
] as const satisfies readonly Type[];

/** A person who has one name has no last name. Dates of birth are `YYYY-MM-DD`. */
export interface Details {
  readonly first_name: string;
  readonly last_name: string | null;
  readonly date_of_birth: string;
}

export interface Consent {
  readonly terms_version: string;
  readonly privacy_version: string;
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
  /** From 1. */
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
    version: 3,
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
        const { terms_version, privacy_version } = event.data;
        return 'tries' in state ? { ...state, consent: { terms_version, privacy_version } } : state;
      }
      case 'onboarding.details_confirmed.v1': {
        const { first_name, last_name, date_of_birth } = event.data;
        const details = { first_name, last_name, date_of_birth };
        return { stage: 'details_confirmed', ...person, tries: withTry(tries, 'details', at), details };
      }
      case 'onboarding.kyc_submitted.v1': {
        if (!('details' in state)) return state;
        const submitted = { verificationId: event.data.verification_id, submittedAt: at };
        const { details } = state;
        return {
          stage: 'kyc_submitted',
          ...person,
          details,
          ...submitted,
          tries: withTry(tries, 'checks', at),
        };
      }
      default:
        break;
    }
    if (!('verificationId' in state)) return state;
    const { details, verificationId, submittedAt } = state;
    const submitted: Submitted = { ...person, details, verificationId, submittedAt };
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
        break;
    }
    if (!('issuerWalletAddress' in state)) return state;
    const { issuerWalletAddress, cardAttempt } = state;
    const owner: WithWallet = { ...submitted, issuerWalletAddress, cardAttempt };
    switch (event.type) {
      case 'onboarding.card_issued.v1':
        return { stage: 'card_issued', ...owner };
      case 'onboarding.card_failed.v1':
        return { stage: 'card_failed', reason: event.data.reason, ...owner };
      case 'onboarding.card_retried.v1':
        return {
          stage: 'wallet_provisioned',
          ...owner,
          tries: withTry(tries, 'cards', at),
          cardAttempt: cardAttempt + 1,
        };
      case 'onboarding.completed.v1':
        return { stage: 'completed', ...owner };
      default:
        event satisfies never;
        return state;
    }
  },
};

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

import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { NO_TRIES, requireCheckQuota, requireDetailsQuota, withTry, type Tries } from './tries.js';

interface Common {
  user_id: string;
  merchant_id: string;
  at: string;
}

export type OnboardingStarted = DomainEvent<'onboarding.started.v1', Common>;
export type PhoneVerified = DomainEvent<'onboarding.phone_verified.v1', Common>;
/** `first_name`, `last_name` and `date_of_birth` are sealed in the store with the key of the person. */
export type DetailsConfirmed = DomainEvent<
  'onboarding.details_confirmed.v1',
  Common & { first_name: string; last_name: string; date_of_birth: string }
>;
/** `verification_id` names one attempt towards the identity provider. */
export type KycSubmitted = DomainEvent<'onboarding.kyc_submitted.v1', Common & { verification_id: string }>;
export type KycPassed = DomainEvent<'onboarding.kyc_passed.v1', Common & { verification_id: string }>;
export type KycFailed = DomainEvent<
  'onboarding.kyc_failed.v1',
  Common & { verification_id: string; reason: string }
>;
export type WalletProvisioned = DomainEvent<
  'onboarding.wallet_provisioned.v1',
  Common & { issuer_wallet_address: string }
>;
export type CardIssued = DomainEvent<'onboarding.card_issued.v1', Common & { card_id: string }>;
/** Follows the activation of the user: who hears of it finds `account_state` `active`. */
export type OnboardingCompleted = DomainEvent<
  'onboarding.completed.v1',
  Common & { issuer_wallet_address: string }
>;

export type OnboardingEvent =
  | OnboardingStarted
  | PhoneVerified
  | DetailsConfirmed
  | KycSubmitted
  | KycPassed
  | KycFailed
  | WalletProvisioned
  | CardIssued
  | OnboardingCompleted;

/** Stored names of all onboarding events. */
export const ONBOARDING_EVENTS = [
  'onboarding.started.v1',
  'onboarding.phone_verified.v1',
  'onboarding.details_confirmed.v1',
  'onboarding.kyc_submitted.v1',
  'onboarding.kyc_passed.v1',
  'onboarding.kyc_failed.v1',
  'onboarding.wallet_provisioned.v1',
  'onboarding.card_issued.v1',
  'onboarding.completed.v1',
] as const satisfies readonly OnboardingEvent['type'][];

/** The person's details; dates of birth are `YYYY-MM-DD`. */
export interface Details {
  readonly firstName: string;
  readonly lastName: string;
  readonly dateOfBirth: string;
}

interface Started {
  readonly userId: string;
  readonly merchantId: string;
}
/** From the verified phone on. */
interface Verified extends Started {
  readonly tries: Tries;
}
interface Detailed extends Verified {
  readonly details: Details;
}
interface Submitted extends Detailed {
  readonly verificationId: string;
}
interface WithWallet extends Submitted {
  readonly issuerWalletAddress: string;
}

export type Onboarding =
  | { readonly stage: 'not_started' }
  | ({ readonly stage: 'started' } & Started)
  | ({ readonly stage: 'phone_verified' } & Verified)
  | ({ readonly stage: 'details_confirmed' } & Detailed)
  | ({ readonly stage: 'kyc_submitted' | 'kyc_passed' } & Submitted)
  | ({ readonly stage: 'kyc_failed'; readonly reason: string } & Submitted)
  | ({ readonly stage: 'wallet_provisioned' | 'card_issued' | 'completed' } & WithWallet);
export type Stage = Onboarding['stage'];

export const onboarding: Aggregate<Onboarding, OnboardingEvent> = {
  category: 'onboarding',
  initial: { stage: 'not_started' },
  snapshots: {
    version: 1,
    events: ONBOARDING_EVENTS,
    pack: (state) => state,
    unpack: (packed) => packed as Onboarding,
    subject: (state) => ('userId' in state ? state.userId : null),
  },
  evolve(state, event) {
    const { user_id: userId, merchant_id: merchantId } = event.data;
    if (event.type === 'onboarding.started.v1') return { stage: 'started', userId, merchantId };
    const tries = 'tries' in state ? state.tries : NO_TRIES;
    const person = { userId, merchantId, tries };
    if (event.type === 'onboarding.phone_verified.v1') return { stage: 'phone_verified', ...person };
    if (event.type === 'onboarding.details_confirmed.v1') {
      const { first_name: firstName, last_name: lastName, date_of_birth: dateOfBirth, at } = event.data;
      const details = { firstName, lastName, dateOfBirth };
      return { stage: 'details_confirmed', ...person, tries: withTry(tries, 'details', at), details };
    }
    if (!('details' in state)) return state;
    if (event.type === 'onboarding.kyc_submitted.v1') {
      const { verification_id: verificationId, at } = event.data;
      const { details } = state;
      return {
        ...{ stage: 'kyc_submitted', ...person, details, verificationId },
        tries: withTry(tries, 'checks', at),
      };
    }
    if (!('verificationId' in state)) return state;
    return evolveSubmitted(state, event);
  },
};

type AfterSubmission = Exclude<
  OnboardingEvent,
  OnboardingStarted | PhoneVerified | DetailsConfirmed | KycSubmitted
>;

function evolveSubmitted(state: Onboarding & Submitted, event: AfterSubmission): Onboarding {
  const { userId, merchantId, tries, details, verificationId } = state;
  const submitted: Submitted = { userId, merchantId, tries, details, verificationId };
  switch (event.type) {
    case 'onboarding.kyc_passed.v1':
      return { stage: 'kyc_passed', ...submitted };
    case 'onboarding.kyc_failed.v1':
      return { stage: 'kyc_failed', reason: event.data.reason, ...submitted };
    case 'onboarding.wallet_provisioned.v1':
      return {
        stage: 'wallet_provisioned',
        issuerWalletAddress: event.data.issuer_wallet_address,
        ...submitted,
      };
    case 'onboarding.card_issued.v1':
      return 'issuerWalletAddress' in state ? { ...state, stage: 'card_issued' } : state;
    case 'onboarding.completed.v1':
      return 'issuerWalletAddress' in state ? { ...state, stage: 'completed' } : state;
    default:
      event satisfies never;
      return state;
  }
}

/** The stages in the order they are reached; a failed verification goes back to where details can be confirmed again. */
const ORDER: readonly Stage[] = [
  'not_started',
  'started',
  'phone_verified',
  'details_confirmed',
  'kyc_failed',
  'kyc_submitted',
  'kyc_passed',
  'wallet_provisioned',
  'card_issued',
  'completed',
];

/** Whether the onboarding has come to `stage` or further. */
export function reached(state: Onboarding, stage: Stage): boolean {
  return ORDER.indexOf(state.stage) >= ORDER.indexOf(stage);
}

export function startOnboarding(
  command: { userId: string; merchantId: string; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  if (state.stage !== 'not_started') return [];
  const { userId, merchantId, at } = command;
  return [{ type: 'onboarding.started.v1', data: { user_id: userId, merchant_id: merchantId, at } }];
}

/** `verifiedPhone` is the number whose code was entered; it must be the profile's, otherwise nothing is linked (contract.md 18.4). */
export function verifyPhone(
  command: { verifiedPhone: string; profilePhone: string; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const person = inOrder(state, 'started');
  if (command.verifiedPhone !== command.profilePhone) {
    throw DomainError.invalid({ phone_number: ['is not the phone number of this account'] });
  }
  if (state.stage !== 'started') return [];
  return [{ type: 'onboarding.phone_verified.v1', data: { ...common(person), at: command.at } }];
}

/**
 * Details may be confirmed anew until they are submitted, and again after a failed verification; throws `rate_limited`
 * when they change too often. The same once more change nothing.
 */
export function confirmDetails(
  command: { details: Details; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const person = inOrder(state, 'phone_verified');
  if (reached(state, 'kyc_submitted')) return [];
  const { firstName, lastName, dateOfBirth } = command.details;
  if (state.stage === 'details_confirmed' && isSame(state.details, command.details)) return [];
  requireDetailsQuota('tries' in state ? state.tries : NO_TRIES, command.at);
  const fields = { first_name: firstName, last_name: lastName, date_of_birth: dateOfBirth };
  return [
    { type: 'onboarding.details_confirmed.v1', data: { ...common(person), at: command.at, ...fields } },
  ];
}

function isSame(a: Details, b: Details): boolean {
  return a.firstName === b.firstName && a.lastName === b.lastName && a.dateOfBirth === b.dateOfBirth;
}

/** Throws `rate_limited` when the identity was checked too often lately. */
export function submitKyc(
  command: { verificationId: string; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const person = inOrder(state, 'details_confirmed');
  if (reached(state, 'kyc_submitted')) return [];
  requireCheckQuota('tries' in state ? state.tries : NO_TRIES, command.at);
  const data = { ...common(person), at: command.at, verification_id: command.verificationId };
  return [{ type: 'onboarding.kyc_submitted.v1', data }];
}

export type KycOutcome = { readonly passed: true } | { readonly passed: false; readonly reason: string };

/** An outcome of an attempt that is not the current one changes nothing. */
export function recordKycOutcome(
  command: { verificationId: string; outcome: KycOutcome; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  if (state.stage !== 'kyc_submitted' || state.verificationId !== command.verificationId) return [];
  const data = { ...common(state), at: command.at, verification_id: command.verificationId };
  if (command.outcome.passed) return [{ type: 'onboarding.kyc_passed.v1', data }];
  return [{ type: 'onboarding.kyc_failed.v1', data: { ...data, reason: command.outcome.reason } }];
}

export function recordWallet(
  command: { issuerWalletAddress: string; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const person = inOrder(state, 'kyc_passed');
  if (state.stage !== 'kyc_passed') return [];
  const data = { ...common(person), at: command.at, issuer_wallet_address: command.issuerWalletAddress };
  return [{ type: 'onboarding.wallet_provisioned.v1', data }];
}

export function recordCard(command: { cardId: string; at: string }, state: Onboarding): OnboardingEvent[] {
  const person = inOrder(state, 'wallet_provisioned');
  if (state.stage !== 'wallet_provisioned') return [];
  return [
    {
      type: 'onboarding.card_issued.v1',
      data: { ...common(person), at: command.at, card_id: command.cardId },
    },
  ];
}

/** The user is active by now. */
export function completeOnboarding(command: { at: string }, state: Onboarding): OnboardingEvent[] {
  inOrder(state, 'card_issued');
  if (state.stage !== 'card_issued') return [];
  const data = { ...common(state), at: command.at, issuer_wallet_address: state.issuerWalletAddress };
  return [{ type: 'onboarding.completed.v1', data }];
}

function inOrder(state: Onboarding, needed: Stage): Started {
  if (state.stage === 'not_started') throw DomainError.notFound('Onboarding');
  if (!reached(state, needed)) {
    throw new DomainError('invalid_transition', `The onboarding is at ${state.stage}; ${needed} comes first`);
  }
  return state;
}

function common(person: Started): { user_id: string; merchant_id: string } {
  return { user_id: person.userId, merchant_id: person.merchantId };
}

import { DomainError } from '../../../kernel/domain-error.js';
import {
  reached,
  requireQuota,
  type OnboardingEvent,
  type WalletDerivation,
  type Consent,
  type Details,
  type Onboarding,
  type OnboardingEventOf,
  type Applicant,
  type Stage,
} from './onboarding.js';
import { missingImages, type ImageKind } from './image-kind.js';

/** Whole years between a day of birth (`YYYY-MM-DD`) and a time (ISO 8601), by the calendar in UTC. */
export function ageOn(at: string, birth: string): number {
  const years = Number(at.slice(0, 4)) - Number(birth.slice(0, 4));
  // A person born on 29 February is a year older on 1 March of other years.
  return at.slice(5, 10) < birth.slice(5) ? years - 1 : years;
}

export function startOnboarding(
  { user_id, merchant_id, at }: OnboardingEventOf<'onboarding.started.v1'>['data'],
  state: Onboarding,
): OnboardingEvent[] {
  if (state.stage !== 'not_started') return [];
  return [{ type: 'onboarding.started.v1', data: { user_id, merchant_id, at } }];
}

/** `verifiedPhone`, whose code was entered, must be the number of the profile (contract.md 18.4). */
export function verifyPhone(
  command: { verifiedPhone: string; profilePhone: string; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const person = inOrder(state, 'started');
  if (command.verifiedPhone !== command.profilePhone) {
    throw DomainError.invalid({ phone_number: ['is not the phone number of this account'] });
  }
  if (state.stage !== 'started') return [];
  return [decided('onboarding.phone_verified.v1', person, { at: command.at })];
}

/**
 * Records consent and details in one commit. Details may change until they are submitted, and after a failed verification.
 * Throws `validation_failed` for a person below `minimumAge` (years), `rate_limited` when details change too often.
 */
export function confirmDetails(
  command: { details: Details; consent: Consent; minimumAge: number; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const person = inOrder(state, 'phone_verified');
  if (reached(state, 'kyc_submitted')) return [];
  const { details, consent, minimumAge, at } = command;
  if (ageOn(at, details.date_of_birth) < minimumAge)
    throw DomainError.invalid({ date_of_birth: [`must be at least ${minimumAge} years ago`] });
  const { terms_version, privacy_version } = consent;
  const given: OnboardingEvent[] = agrees(person.consent, consent)
    ? []
    : [decided('onboarding.consent_given.v1', person, { at, terms_version, privacy_version })];
  if (state.stage === 'details_confirmed' && isSame(state.details, details)) return given;
  requireQuota('details', person.tries, at);
  const { first_name, last_name, date_of_birth } = details;
  const data = { at, first_name, last_name, date_of_birth };
  return [...given, decided('onboarding.details_confirmed.v1', person, data)];
}

function isSame(a: Details, b: Details): boolean {
  return a.first_name === b.first_name && a.last_name === b.last_name && a.date_of_birth === b.date_of_birth;
}

function agrees(known: Consent | null, given: Consent): boolean {
  return known?.terms_version === given.terms_version && known.privacy_version === given.privacy_version;
}

/**
 * `images` are the stored ones. Throws `validation_failed` when a required one is missing, `rate_limited` when the identity
 * was checked too often lately, `invalid_transition` without consent.
 */
export function submitKyc(
  command: { verification_id: string; images: readonly ImageKind[]; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const person = inOrder(state, 'details_confirmed');
  if (reached(state, 'kyc_submitted')) return [];
  if (person.consent === null)
    throw new DomainError('invalid_transition', 'The terms are not agreed to; confirm the details again');
  requireQuota('checks', person.tries, command.at);
  const missing = missingImages(command.images).map((kind) => [kind, ['is missing; upload it first']]);
  if (missing.length > 0) throw DomainError.invalid(Object.fromEntries(missing));
  const { at, verification_id } = command;
  return [decided('onboarding.kyc_submitted.v1', person, { at, verification_id })];
}

export type KycOutcome = { readonly passed: true } | { readonly passed: false; readonly reason: string };

/** Outcomes of other attempts, and repeated ones, change nothing. */
export function recordKycOutcome(
  command: { verification_id: string; provider: string; outcome: KycOutcome; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const { verification_id, provider, outcome, at } = command;
  if (state.stage !== 'kyc_submitted' || state.verification_id !== verification_id) return [];
  const data = { at, verification_id, provider };
  if (outcome.passed) return [decided('onboarding.kyc_passed.v1', state, data)];
  return [decided('onboarding.kyc_failed.v1', state, { ...data, reason: outcome.reason })];
}

export function recordWallet(
  command: { issuer_wallet_address: string; derivation: WalletDerivation | null; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const person = inOrder(state, 'kyc_passed');
  if (state.stage !== 'kyc_passed') return [];
  const { issuer_wallet_address, derivation, at } = command;
  const data = { at, issuer_wallet_address, ...(derivation === null ? {} : { derivation }) };
  return [decided('onboarding.wallet_provisioned.v1', person, data)];
}

/** A card is recorded also after its attempt has failed. */
export function recordCard(command: { card_id: string; at: string }, state: Onboarding): OnboardingEvent[] {
  const person = inOrder(state, 'wallet_provisioned');
  if (reached(state, 'card_issued')) return [];
  return [decided('onboarding.card_issued.v1', person, { at: command.at, card_id: command.card_id })];
}

/** Changes nothing when a later attempt than `attempt` is in progress. */
export function recordCardFailure(
  command: { attempt: number; reason: string; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const person = inOrder(state, 'wallet_provisioned');
  if (state.stage !== 'wallet_provisioned' || state.card_attempt !== command.attempt) return [];
  return [decided('onboarding.card_failed.v1', person, { at: command.at, reason: command.reason })];
}

/** Changes nothing where no card has failed. Throws `rate_limited` after too many requests. */
export function retryCard(command: { at: string }, state: Onboarding): OnboardingEvent[] {
  const person = inOrder(state, 'wallet_provisioned');
  if (state.stage !== 'card_failed') return [];
  requireQuota('cards', state.tries, command.at);
  return [decided('onboarding.card_retried.v1', person, { at: command.at })];
}

export function completeOnboarding(command: { at: string }, state: Onboarding): OnboardingEvent[] {
  inOrder(state, 'card_issued');
  if (state.stage !== 'card_issued') return [];
  const { issuer_wallet_address } = state;
  return [decided('onboarding.completed.v1', state, { at: command.at, issuer_wallet_address })];
}

function inOrder(state: Onboarding, needed: Stage): Applicant {
  if (state.stage === 'not_started') throw DomainError.notFound('Onboarding');
  if (!reached(state, needed)) {
    throw new DomainError('invalid_transition', `The onboarding is at ${state.stage}; ${needed} comes first`);
  }
  return state;
}

function decided<Name extends OnboardingEvent['type']>(
  type: Name,
  { user_id, merchant_id }: Applicant,
  data: Omit<OnboardingEventOf<Name>['data'], 'user_id' | 'merchant_id'>,
): OnboardingEvent {
  return { type, data: { user_id, merchant_id, ...data } } as OnboardingEvent;
}

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
import { missingImages, type ImageKind } from '../identity/image-kind.js';

/** Returns the age in whole years. `at` is ISO 8601 in UTC, `birth` is `YYYY-MM-DD`. */
export function ageOn(at: string, birth: string): number {
  const years = Number(at.slice(0, 4)) - Number(birth.slice(0, 4));
  // A person born on 29 February is a year older on 1 March of other years.
  return at.slice(5, 10) < birth.slice(5) ? years - 1 : years;
}

export function startOnboarding(
  { user_id, merchant_id, at }: OnboardingEventOf<'onboarding.started.v1'>['data'],
  { stage }: Onboarding,
): OnboardingEvent[] {
  if (stage !== 'not_started') return [];
  return [{ type: 'onboarding.started.v1', data: { user_id, merchant_id, at } }];
}

/** Records the verified phone. Throws `validation_failed` if the profile has another (contract.md 18.4). */
export function verifyPhone(
  { verifiedPhone, profilePhone, at }: { verifiedPhone: string; profilePhone: string; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const person = inOrder(state, 'started');
  if (verifiedPhone !== profilePhone)
    throw DomainError.invalid({ phone_number: ['is not the phone number of this account'] });
  return state.stage === 'started' ? [decided('onboarding.phone_verified.v1', person, { at })] : [];
}

/** Records consent and details. Throws `validation_failed` below `minimumAge` (years), or `rate_limited`. */
export function confirmDetails(
  {
    details,
    consent,
    minimumAge,
    at,
  }: { details: Details; consent: Consent; minimumAge: number; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const person = inOrder(state, 'phone_verified');
  // Details may change until they are submitted, and after a failed verification.
  if (reached(state, 'kyc_submitted')) return [];
  if (ageOn(at, details.date_of_birth) < minimumAge)
    throw DomainError.invalid({ date_of_birth: [`must be at least ${minimumAge} years ago`] });
  const { terms_version, privacy_version } = consent;
  const agreed = { terms_version, privacy_version };
  const given = isSame(person.consent, agreed)
    ? []
    : [decided('onboarding.consent_given.v1', person, { at, ...agreed })];
  const { first_name, last_name, date_of_birth } = details;
  const confirmed = { first_name, last_name, date_of_birth };
  if (state.stage === 'details_confirmed' && isSame(state.details, confirmed)) return given;
  requireQuota('details', person.tries, at);
  return [...given, decided('onboarding.details_confirmed.v1', person, { at, ...confirmed })];
}

function isSame<Members extends object>(known: Members | null, given: Members): boolean {
  const names = Object.keys(given) as (keyof Members)[];
  return names.every((name) => known?.[name] === given[name]);
}

/** Throws `validation_failed` without the images, `invalid_transition` without consent, or `rate_limited`. */
export function submitKyc(
  { verification_id, images, at }: { verification_id: string; images: readonly ImageKind[]; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const person = inOrder(state, 'details_confirmed');
  if (reached(state, 'kyc_submitted')) return [];
  if (person.consent === null)
    throw new DomainError('invalid_transition', 'The terms are not agreed to; confirm the details again');
  requireQuota('checks', person.tries, at);
  const missing = missingImages(images).map((kind) => [kind, ['is missing; upload it first']]);
  if (missing.length > 0) throw DomainError.invalid(Object.fromEntries(missing));
  return [decided('onboarding.kyc_submitted.v1', person, { at, verification_id })];
}

export type KycOutcome = { readonly passed: true } | { readonly passed: false; readonly reason: string };

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
  const { issuer_wallet_address, derivation, at } = command;
  if (state.stage !== 'kyc_passed') return [];
  const data = { at, issuer_wallet_address, ...(derivation === null ? {} : { derivation }) };
  return [decided('onboarding.wallet_provisioned.v1', person, data)];
}

/** Records a card, even after its attempt was recorded as failed. */
export function recordCard(command: { card_id: string; at: string }, state: Onboarding): OnboardingEvent[] {
  const person = inOrder(state, 'wallet_provisioned');
  if (reached(state, 'card_issued')) return [];
  return [decided('onboarding.card_issued.v1', person, { at: command.at, card_id: command.card_id })];
}

/** Records the failure of an attempt to issue a card, unless a later attempt has begun. */
export function recordCardFailure(
  command: { attempt: number; reason: string; at: string },
  state: Onboarding,
): OnboardingEvent[] {
  const person = inOrder(state, 'wallet_provisioned');
  if (state.stage !== 'wallet_provisioned' || state.card_attempt !== command.attempt) return [];
  return [decided('onboarding.card_failed.v1', person, { at: command.at, reason: command.reason })];
}

/** Starts another attempt if the card has failed; otherwise changes nothing. Throws `rate_limited`. */
export function retryCard(command: { at: string }, state: Onboarding): OnboardingEvent[] {
  const person = inOrder(state, 'wallet_provisioned');
  if (state.stage !== 'card_failed') return [];
  requireQuota('cards', state.tries, command.at);
  return [decided('onboarding.card_retried.v1', person, { at: command.at })];
}

export function completeOnboarding({ at }: { at: string }, state: Onboarding): OnboardingEvent[] {
  inOrder(state, 'card_issued');
  if (state.stage !== 'card_issued') return [];
  const { issuer_wallet_address } = state;
  return [decided('onboarding.completed.v1', state, { at, issuer_wallet_address })];
}

function inOrder(state: Onboarding, needed: Stage): Applicant {
  if (state.stage === 'not_started') throw DomainError.notFound('Onboarding');
  if (!reached(state, needed))
    throw new DomainError('invalid_transition', `The onboarding is at ${state.stage}; ${needed} comes first`);
  return state;
}

function decided<Name extends OnboardingEvent['type']>(
  type: Name,
  { user_id, merchant_id }: Applicant,
  data: Omit<OnboardingEventOf<Name>['data'], 'user_id' | 'merchant_id'>,
): OnboardingEvent {
  return { type, data: { user_id, merchant_id, ...data } } as OnboardingEvent;
}

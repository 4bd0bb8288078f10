import type { DomainEvent } from '../../../kernel/aggregate.js';

interface Common {
  user_id: string;
  merchant_id: string;
  at: string;
}

export type OnboardingStarted = DomainEvent<'onboarding.started.v1', Common>;
export type PhoneVerified = DomainEvent<'onboarding.phone_verified.v1', Common>;
/** Which versions of the terms and of the privacy notice the person agreed to. */
export type ConsentGiven = DomainEvent<
  'onboarding.consent_given.v1',
  Common & { terms_version: string; privacy_version: string }
>;
/** `first_name`, `last_name` and `date_of_birth` are sealed in the store with the key of the person. */
export type DetailsConfirmed = DomainEvent<
  'onboarding.details_confirmed.v1',
  Common & { first_name: string; last_name: string; date_of_birth: string }
>;
/** `verification_id` names one attempt towards the identity provider. */
export type KycSubmitted = DomainEvent<'onboarding.kyc_submitted.v1', Common & { verification_id: string }>;
interface Verified extends Common {
  verification_id: string;
  provider: string;
}
export type KycPassed = DomainEvent<'onboarding.kyc_passed.v1', Verified>;
export type KycFailed = DomainEvent<'onboarding.kyc_failed.v1', Verified & { reason: string }>;
/** `derivation` tells where a wallet of an extended public key is found again; absent for others. */
export type WalletProvisioned = DomainEvent<
  'onboarding.wallet_provisioned.v1',
  Common & { issuer_wallet_address: string; derivation?: WalletDerivation }
>;
export type CardIssued = DomainEvent<'onboarding.card_issued.v1', Common & { card_id: string }>;
/** The issuer refused the card, or could not be reached for as long as attempts go on. */
export type CardFailed = DomainEvent<'onboarding.card_failed.v1', Common & { reason: string }>;
/** The user or an operator asks the issuer once more. */
export type CardRetried = DomainEvent<'onboarding.card_retried.v1', Common>;
/** Follows the activation of the user: who hears of it finds `account_state` `active`. */
export type OnboardingCompleted = DomainEvent<
  'onboarding.completed.v1',
  Common & { issuer_wallet_address: string }
>;

export interface WalletDerivation {
  /** Fingerprint of the extended public key, eight hexadecimal digits. */
  readonly key: string;
  /** From that key on, for example `0/17`. */
  readonly path: string;
  readonly index: number;
}

export type OnboardingEvent =
  | OnboardingStarted
  | PhoneVerified
  | ConsentGiven
  | DetailsConfirmed
  | KycSubmitted
  | KycPassed
  | KycFailed
  | WalletProvisioned
  | CardIssued
  | CardFailed
  | CardRetried
  | OnboardingCompleted;

/** Stored names of all onboarding events. */
export const ONBOARDING_EVENTS = [
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
] as const satisfies readonly OnboardingEvent['type'][];

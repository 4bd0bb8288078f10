import type { KycOutcome } from '../domain/decisions.js';
import type { IdentityImage } from '../domain/identity-image.js';
import type { Details } from '../domain/onboarding.js';
import type { WalletDerivation } from '../domain/onboarding-events.js';

/**
 * A provider says no for good, with `reason` for the person: another attempt with the same would end the same way.
 * Whatever else a port rejects with means unavailable: the same is asked again later.
 */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';

  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(reason, options);
  }
}

/**
 * A provider gave nothing, and is asked again later. The message is for operators and the log: a sentence without
 * secrets and personal data. What is no such error is told by its name alone.
 */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';
}

/** The message was sent and no response came: it may arrive. */
export class MessageUncertain extends Error {
  override readonly name = 'MessageUncertain';
}

/**
 * Sends one-time codes. Rejects when the message could not be handed over; {@link ProviderRefusal} for a number that takes
 * none, {@link MessageUncertain} when it may have been handed over.
 */
export interface SmsSender {
  /** `text` holds the code; both are secret. Delivered within `validSeconds` (at most 36,000), or not at all. */
  send(
    phoneNumber: string,
    message: { readonly code: string; readonly text: string; readonly validSeconds: number },
  ): Promise<void>;
}
export const SMS_SENDER = Symbol('SMS_SENDER');

/** The sandbox's phone: reads back the code that was last sent to a number, null when there is none. */
export interface SmsInbox {
  lastCode(phoneNumber: string): string | null;
}
export const SMS_INBOX = Symbol('SMS_INBOX');

export interface IdentityRequest {
  readonly verificationId: string;
  readonly userId: string;
  readonly details: Details;
  /** What the person uploaded; read once it is needed, and empty when it was handed over before. */
  readonly images: () => Promise<readonly IdentityImage[]>;
  /** The provider has all of them: they are deleted here. Harmless to repeat. */
  readonly handedOver: () => Promise<void>;
}

/**
 * Verifies identities. A verification is asked for, and decided whenever the provider gets to it: `decide` hands over
 * what was not handed over yet, looks, and gives the outcome or `under_review`. Asked again with the same
 * `verificationId`, also after a crash half-way, it starts no second verification.
 */
export interface IdentityVerifier {
  /** Stands in the events of its decisions. */
  readonly provider: string;
  decide(request: IdentityRequest): Promise<KycOutcome | 'under_review'>;
  /** Deletes what the provider holds of a person. Harmless to repeat. */
  forget(userId: string): Promise<void>;
}
export const IDENTITY_VERIFIER = Symbol('IDENTITY_VERIFIER');

export interface ProvisionedWallet {
  /** EIP-55 checksummed. */
  readonly address: string;
  readonly derivation: WalletDerivation | null;
}

/** Provides the wallet of a user: always the same one for the same user. */
export interface WalletProvisioner {
  provision(userId: string): Promise<ProvisionedWallet>;
  /** `address` turned out to be another user's: from now on the user gets another one, if there can be one. */
  replace(userId: string, address: string): Promise<void>;
}
export const WALLET_PROVISIONER = Symbol('WALLET_PROVISIONER');

export interface CardRequest {
  readonly userId: string;
  readonly issuerWalletAddress: string;
  readonly details: Details;
  /** From the profile, E.164. */
  readonly phoneNumber: string;
  readonly email: string | null;
  /** From 1; grows when a failed attempt is tried again. */
  readonly attempt: number;
}

/** Issues the card of a user: at most one for the same user, however many attempts there are. */
export interface CardIssuer {
  issue(request: CardRequest): Promise<{ readonly cardId: string }>;
  /** Cancels the cards of a person and deletes what can be deleted. Harmless to repeat. */
  forget(userId: string): Promise<void>;
}
export const CARD_ISSUER = Symbol('CARD_ISSUER');

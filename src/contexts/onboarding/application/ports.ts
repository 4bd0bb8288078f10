import type { KycOutcome } from '../domain/decisions.js';
import type { IdentityImage } from '../domain/image-kind.js';
import type { Details, WalletDerivation } from '../domain/onboarding.js';

/** No response came: the message may arrive. */
export class MessageUncertain extends Error {
  override readonly name = 'MessageUncertain';
}

/** Rejects with {@link ProviderRefused} for a number that gets no messages, {@link MessageUncertain} when it may arrive. */
export interface SmsSender {
  /** `text` holds the code; both are secret. Delivered within `validSeconds` (at most 36,000), or not at all. */
  send(
    phoneNumber: string,
    message: { readonly code: string; readonly text: string; readonly validSeconds: number },
  ): Promise<void>;
}
export const SMS_SENDER = Symbol('SMS_SENDER');

/** The phones of the sandbox: the last code of a number. */
export interface SmsInbox {
  lastCode(phoneNumber: string): string | null;
}
export const SMS_INBOX = Symbol('SMS_INBOX');

export interface IdentityRequest {
  readonly verificationId: string;
  readonly userId: string;
  readonly details: Details;
  /** The images; none after {@link deleteImages}. */
  readonly images: () => Promise<readonly IdentityImage[]>;
  /** Deletes the images: the provider has them. Harmless to repeat. */
  readonly deleteImages: () => Promise<void>;
}

/**
 * Verifies identities. `decide` uploads what the provider does not have, and returns the outcome or `under_review`. It
 * starts no second verification with the same `verificationId`, also after a crash.
 */
export interface IdentityVerifier {
  /** Recorded in the events of its decisions. */
  readonly provider: string;
  decide(request: IdentityRequest): Promise<KycOutcome | 'under_review'>;
  /** Deletes the person at the provider. Harmless to repeat. */
  forget(userId: string): Promise<void>;
}
export const IDENTITY_VERIFIER = Symbol('IDENTITY_VERIFIER');

export interface ProvisionedWallet {
  /** EIP-55 checksummed. */
  readonly address: string;
  readonly derivation: WalletDerivation | null;
}

/** Returns the same wallet for the same user. */
export interface WalletProvisioner {
  provision(userId: string): Promise<ProvisionedWallet>;
  /** `address` belongs to another user: the user gets a different one, if possible. */
  replace(userId: string, address: string): Promise<void>;
}
export const WALLET_PROVISIONER = Symbol('WALLET_PROVISIONER');

export interface CardRequest {
  readonly userId: string;
  readonly issuerWalletAddress: string;
  readonly details: Details;
  /** The phone number of the profile, E.164. */
  readonly phoneNumber: string;
  readonly email: string | null;
  /** The attempt, from 1. */
  readonly attempt: number;
}

/** Issues at most one card per user. */
export interface CardIssuer {
  issue(request: CardRequest): Promise<{ readonly cardId: string }>;
  /** Cancels the cards of a person and deletes personal data. Harmless to repeat. */
  forget(userId: string): Promise<void>;
}
export const CARD_ISSUER = Symbol('CARD_ISSUER');

/** Names in lower case. */
export type CallbackHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A callback with a valid signature. It only causes a poll: its content is not trusted. */
export interface Callback {
  /** The time at which the provider signed it, or of the event. */
  readonly at: Date;
  /** The provider's id of the check; null for other events. */
  readonly check: string | null;
}

export type CallbackRefusal = 'forged' | 'malformed';

export interface CallbackReader {
  readonly provider: string;
  read(headers: CallbackHeaders, body: Buffer): Promise<Callback | CallbackRefusal>;
}
/** The token of the reader; null where the identity provider sends no callbacks. */
export const CALLBACK_READER = Symbol('CALLBACK_READER');

import type { Details, KycOutcome } from '../domain/onboarding.js';

/** Sends one-time codes. Rejects when the message could not be handed over. */
export interface SmsSender {
  send(phoneNumber: string, code: string): Promise<void>;
}
export const SMS_SENDER = Symbol('SMS_SENDER');

/** The sandbox's phone: reads back the code that was last sent to a number, null when there is none. */
export interface SmsInbox {
  lastCode(phoneNumber: string): string | null;
}
export const SMS_INBOX = Symbol('SMS_INBOX');

/** Decides about an identity. Asked again with the same `verificationId`, it must not start a second verification. */
export interface IdentityVerifier {
  verify(request: {
    readonly verificationId: string;
    readonly userId: string;
    readonly details: Details;
  }): Promise<KycOutcome>;
}
export const IDENTITY_VERIFIER = Symbol('IDENTITY_VERIFIER');

/** Provides the wallet of a user: always the same one for the same user. */
export interface WalletProvisioner {
  /** The wallet's address, EIP-55 checksummed. */
  provision(userId: string): Promise<string>;
}
export const WALLET_PROVISIONER = Symbol('WALLET_PROVISIONER');

/** Issues the card of a user: at most one for the same user. */
export interface CardIssuer {
  issue(request: {
    readonly userId: string;
    readonly issuerWalletAddress: string;
  }): Promise<{ readonly cardId: string }>;
}
export const CARD_ISSUER = Symbol('CARD_ISSUER');

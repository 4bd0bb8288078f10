import { DomainError } from '../../../kernel/domain-error.js';
import { ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { SealError } from '../../../platform/sealing/sealer.js';
import type { KycOutcome } from '../onboardings/decisions.js';
import type { IdentityImage } from '../identity/image-kind.js';
import type { Details, WalletDerivation } from '../onboardings/onboarding.js';

/** The error of a request without a response: the message may still arrive. */
export class MessageUncertain extends Error {
  override readonly name = 'MessageUncertain';
}

/** Describes an error for operators, without foreign messages, which may contain personal data. */
export function describeError(error: unknown): string {
  const isOurs = [DomainError, ProviderUnavailable, SealError].some((ours) => error instanceof ours);
  if (isOurs) return (error as Error).message;
  const { name = 'Error', code } = error as { readonly name?: string; readonly code?: unknown };
  return `unexpected: ${name}${typeof code === 'string' ? ` (${code})` : ''}`;
}

/** Sends codes. Throws ProviderRefused if a number gets no SMS, or MessageUncertain for a lost response. */
export abstract class SmsSender {
  /** `text` contains the code; both are secret. The message expires after `validSeconds` (at most 36,000). */
  abstract send(
    phoneNumber: string,
    message: { readonly code: string; readonly text: string; readonly validSeconds: number },
  ): Promise<void>;
}

/** The last code of each number, in the sandbox. */
export abstract class SmsInbox {
  abstract lastCode(phoneNumber: string): string | null;
}

export interface IdentityRequest {
  readonly verificationId: string;
  readonly userId: string;
  readonly details: Details;
  /** The stored images. The list is empty after deleteImages. */
  readonly images: () => Promise<readonly IdentityImage[]>;
  /** Deletes the images once the provider has them. Idempotent. */
  readonly deleteImages: () => Promise<void>;
}

/** Verifies identities, at most once per `verificationId` even after a crash. `decide` uploads the data. */
export abstract class IdentityVerifier {
  abstract readonly provider: string;
  abstract decide(request: IdentityRequest): Promise<KycOutcome | 'under_review'>;
  /** Deletes the person at the provider. Idempotent. */
  abstract forget(userId: string): Promise<void>;
  /** Verifies and parses a callback. A provider without callbacks does not define it. */
  readonly readCallback?: (
    headers: CallbackHeaders,
    body: Buffer,
  ) => Promise<Callback | 'forged' | 'malformed'>;
}

export interface ProvisionedWallet {
  /** The address with its EIP-55 checksum. */
  readonly address: string;
  readonly derivation: WalletDerivation | null;
}

/** Assigns one wallet to each user. */
export abstract class WalletProvisioner {
  abstract provision(userId: string): Promise<ProvisionedWallet>;
}

export interface CardRequest {
  readonly userId: string;
  readonly details: Details;
  readonly phoneNumber: string;
  readonly email: string | null;
  readonly attempt: number;
}

/** Issues at most one card per user. */
export abstract class CardIssuer {
  abstract issue(request: CardRequest): Promise<{ readonly cardId: string }>;
  /** Cancels the person's cards and deletes personal data. Idempotent. */
  abstract forget(userId: string): Promise<void>;
}

/** The headers of a callback. Their names are in lower case. */
export type CallbackHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A callback with a valid signature. Its content only triggers a poll. */
export interface Callback {
  readonly at: Date;
  /** The provider's id of the check; null for other events. */
  readonly check: string | null;
}

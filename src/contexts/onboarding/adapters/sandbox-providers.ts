import { createHmac } from 'node:crypto';
import type { Wallet } from 'ethers';
import { LRUCache } from 'lru-cache';
import { deriveId } from '../../../kernel/ids.js';
import {
  ProviderRefusal,
  type CardIssuer,
  type CardRequest,
  type IdentityRequest,
  type IdentityVerifier,
  type ProvisionedWallet,
  type SmsInbox,
  type SmsSender,
  type WalletProvisioner,
} from '../application/ports.js';
import type { KycOutcome } from '../domain/decisions.js';
import type { SandboxReviews } from '../store/sandbox-reviews.js';
import type { Verifications } from '../store/verifications.js';

const MAX_MESSAGES = 10_000;

/** A phone network of one process: the last code to each number, in memory alone. */
export class SandboxSms implements SmsSender, SmsInbox {
  private readonly codes = new LRUCache<string, string>({ max: MAX_MESSAGES });

  async send(phoneNumber: string, { code }: { readonly code: string }): Promise<void> {
    this.codes.set(phoneNumber, code);
  }

  lastCode(phoneNumber: string): string | null {
    return this.codes.get(phoneNumber) ?? null;
  }
}

/** Last names by which the ways that end badly, or late, are tried in the sandbox. */
export const SANDBOX_NAMES = {
  /** The identity is rejected. */
  rejected: 'Rejected',
  /** The identity stays under review until an operator decides (`npm run user -- review`), or SANDBOX_REVIEW_SECONDS. */
  review: 'Review',
  /** The first attempt for a card fails. */
  cardFails: 'Cardless',
} as const;

/** Each has words in every language of the page: words/reasons.ts. */
export const SANDBOX_REASONS = {
  identity: 'The identity document could not be verified',
  card: 'The card could not be issued',
} as const;

export class SandboxIdentityVerifier implements IdentityVerifier {
  readonly provider = 'sandbox';

  constructor(
    private readonly reviews: SandboxReviews,
    private readonly verifications: Verifications,
    private readonly reviewSeconds: number | null,
  ) {}

  async decide({
    verificationId,
    userId,
    details,
    handedOver,
  }: IdentityRequest): Promise<KycOutcome | 'under_review'> {
    await handedOver();
    if (details.lastName === SANDBOX_NAMES.rejected)
      return { passed: false, reason: SANDBOX_REASONS.identity };
    if (details.lastName !== SANDBOX_NAMES.review) return { passed: true };
    await this.verifications.checked(verificationId, this.provider, verificationId);
    return (await this.reviews.outcome(verificationId, userId, this.reviewSeconds)) ?? 'under_review';
  }

  async forget(): Promise<void> {}
}

/** Real key pairs derived from the root of the sandbox's key ring, so that test USDC can be received and the keys found again. */
export class SandboxWallets implements WalletProvisioner {
  constructor(private readonly root: Buffer) {}

  async provision(userId: string): Promise<ProvisionedWallet> {
    return { address: (await this.walletOf(userId)).address, derivation: null };
  }

  async replace(): Promise<void> {}

  async walletOf(userId: string): Promise<Wallet> {
    const { Wallet } = await import('ethers');
    const key = createHmac('sha256', this.root).update(`sandbox wallet ${userId}`).digest();
    return new Wallet(`0x${key.toString('hex')}`);
  }
}

export class SandboxCards implements CardIssuer {
  async issue({ userId, details, attempt }: CardRequest): Promise<{ cardId: string }> {
    if (details.lastName === SANDBOX_NAMES.cardFails && attempt === 1)
      throw new ProviderRefusal(SANDBOX_REASONS.card);
    return { cardId: deriveId('sandbox card', userId) };
  }

  async forget(): Promise<void> {}
}

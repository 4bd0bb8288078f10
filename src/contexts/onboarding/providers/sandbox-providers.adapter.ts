import { SANDBOX_NAMES } from '../identity/image-kind.js';
import { createHmac } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Wallet } from 'ethers';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { deriveId } from '../../../kernel/ids.js';
import { KeyRing } from '../../../platform/sealing/key-ring.js';
import { ProviderRefused } from '../../../platform/outbound/provider-errors.js';
import type {
  CardIssuer,
  CardRequest,
  IdentityRequest,
  IdentityVerifier,
  ProvisionedWallet,
  SmsInbox,
  SmsSender,
  WalletProvisioner,
} from './providers.ports.js';
import type { KycOutcome } from '../onboardings/decisions.js';
import { Verifications } from '../identity/verifications.store.js';
import en from '../words/en.json' with { type: 'json' };
import { onboardingConfig, type OnboardingConfig } from '../onboarding.config.js';

const MAX_MESSAGES = 10_000;

/** Keeps the last code of each number in the memory of one process. */
export class SandboxSms implements SmsSender, SmsInbox {
  private readonly codes = new LRUCache<string, string>(upTo(MAX_MESSAGES));

  async send(phoneNumber: string, { code }: { readonly code: string }): Promise<void> {
    this.codes.set(phoneNumber, code);
  }

  lastCode(phoneNumber: string): string | null {
    return this.codes.get(phoneNumber) ?? null;
  }
}

@Injectable()
export class SandboxIdentityVerifier implements IdentityVerifier {
  readonly provider = 'sandbox';

  constructor(
    private readonly verifications: Verifications,
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
  ) {}

  async decide(request: IdentityRequest): Promise<KycOutcome | 'under_review'> {
    const { verificationId, userId, details } = request;
    await request.deleteImages();
    if (details.last_name === SANDBOX_NAMES.rejected)
      return { passed: false, reason: en.reasonSandboxIdentity };
    if (details.last_name !== SANDBOX_NAMES.review) return { passed: true };
    const { sandboxReviewSeconds: passAfter } = this.config;
    return (await this.verifications.reviewOutcome(verificationId, userId, passAfter)) ?? 'under_review';
  }

  async forget(): Promise<void> {}
}

/** Derives key pairs from the sandbox's root key, so that the wallets can receive test USDC. */
@Injectable()
export class SandboxWallets implements WalletProvisioner {
  constructor(@Inject(KeyRing) private readonly keys: Pick<KeyRing, 'root'>) {}

  async provision(userId: string): Promise<ProvisionedWallet> {
    return { address: (await this.createWallet(userId)).address, derivation: null };
  }

  async createWallet(userId: string): Promise<Wallet> {
    const { Wallet } = await import('ethers');
    const key = createHmac('sha256', this.keys.root).update(`sandbox wallet ${userId}`).digest();
    return new Wallet(`0x${key.toString('hex')}`);
  }
}

export class SandboxCards implements CardIssuer {
  async issue({ userId, details, attempt }: CardRequest): Promise<{ cardId: string }> {
    if (details.last_name === SANDBOX_NAMES.cardFails && attempt === 1)
      throw new ProviderRefused(en.reasonSandboxCard);
    return { cardId: deriveId('sandbox card', userId) };
  }

  async forget(): Promise<void> {}
}

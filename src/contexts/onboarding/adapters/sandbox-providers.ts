import { createHmac } from 'node:crypto';
import type { Wallet } from 'ethers';
import { LRUCache } from 'lru-cache';
import { deriveId } from '../../../kernel/ids.js';
import type {
  CardIssuer,
  IdentityVerifier,
  SmsInbox,
  SmsSender,
  WalletProvisioner,
} from '../application/ports.js';
import type { KycOutcome } from '../domain/onboarding.js';

const MAX_MESSAGES = 10_000;

/** A phone network of one process: the last code to each number, in memory alone. */
export class SandboxSms implements SmsSender, SmsInbox {
  private readonly codes = new LRUCache<string, string>({ max: MAX_MESSAGES });

  async send(phoneNumber: string, code: string): Promise<void> {
    this.codes.set(phoneNumber, code);
  }

  lastCode(phoneNumber: string): string | null {
    return this.codes.get(phoneNumber) ?? null;
  }
}

/** The last name of a person whose identity the sandbox rejects, to try the failing way. */
export const REJECTED_LAST_NAME = 'Rejected';

export class SandboxIdentityVerifier implements IdentityVerifier {
  async verify({ details }: Parameters<IdentityVerifier['verify']>[0]): Promise<KycOutcome> {
    if (details.lastName !== REJECTED_LAST_NAME) return { passed: true };
    return { passed: false, reason: 'The identity document could not be verified' };
  }
}

/** Real key pairs derived from the root of the sandbox's key ring, so that test USDC can be received and the keys found again. */
export class SandboxWallets implements WalletProvisioner {
  constructor(private readonly root: Buffer) {}

  async provision(userId: string): Promise<string> {
    return (await this.walletOf(userId)).address;
  }

  async walletOf(userId: string): Promise<Wallet> {
    const { Wallet } = await import('ethers');
    const key = createHmac('sha256', this.root).update(`sandbox wallet ${userId}`).digest();
    return new Wallet(`0x${key.toString('hex')}`);
  }
}

export class SandboxCards implements CardIssuer {
  async issue({ userId }: Parameters<CardIssuer['issue']>[0]): Promise<{ cardId: string }> {
    return { cardId: deriveId('sandbox card', userId) };
  }
}

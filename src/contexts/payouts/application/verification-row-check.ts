import { Injectable, Logger } from '@nestjs/common';
import { toMinorUnits } from '../../../kernel/money.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { comparableHash } from '../domain/payout-events.js';
import { payout } from '../domain/payout.js';
import type { PendingPayout } from '../store/verification-queue.js';
import { PayeeCache } from './payee-cache.js';

/** Compares `payouts.verifications` with the events: a process with the database alone can write to the table. */
@Injectable()
export class VerificationRowCheck {
  private readonly logger = new Logger(VerificationRowCheck.name);

  constructor(
    private readonly loop: CommandLoop,
    private readonly payees: PayeeCache,
  ) {}

  /** Whether an outcome may rest on the row: transaction, amount, user and wallet are those of the events. */
  async matchesEvents(listed: PendingPayout, chainId: number): Promise<boolean> {
    const { payoutId, userId, hash, amountMinor, wallet } = listed;
    const { state } = await this.loop.load(payout, payoutId);
    // What was never reported, or has its outcome, gets no other one.
    if (state.status !== 'pending') return true;
    const { facts } = state;
    const isSound =
      facts.user_id === userId &&
      facts.chain_id === chainId &&
      comparableHash(facts.transaction_hash) === hash &&
      toMinorUnits(facts.amount) === amountMinor &&
      (wallet === null || (await this.isWalletOf(facts.user_id, wallet)));
    if (!isSound)
      this.logger.error({
        msg: 'payout not decided: its row was changed outside the service',
        payout_id: payoutId,
      });
    return isSound;
  }

  private async isWalletOf(userId: string, wallet: string): Promise<boolean> {
    // The user may have got the wallet since it was cached.
    for (const fresh of [false, true]) {
      const own = await this.payees.walletOf(userId, { fresh });
      if (own?.toLowerCase() === wallet.toLowerCase()) return true;
    }
    return false;
  }
}

import { Inject, Injectable, Logger } from '@nestjs/common';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ClaimHeld, type Claim } from '../../../platform/event-store/command-loop-types.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { toMinorUnits } from '../../../kernel/money.js';
import { comparableHash, type PayoutEvent, type TransferSighting } from '../domain/payout-events.js';
import { expire, payout, receive, type PayoutState } from '../domain/payout.js';
import { expiryReason } from '../domain/verification.js';
import type { PendingPayout } from '../store/verification-queue.js';

/** The row of a verification. A writer of the database can change it, so it is compared with the events. */
type VerifiedRow = Pick<PendingPayout, 'payoutId' | 'userId' | 'hash' | 'amountMinor'>;

/**
 * - `written`: the payout has its outcome now
 * - `ended`: it had one already, or was never reported
 * - `early`: its window is not over yet
 * - `row_changed`: it was reported differently
 */
type Outcome = 'written' | 'ended' | 'early' | 'row_changed';

/** Ends each payout once. */
@Injectable()
export class PayoutOutcomes {
  private readonly logger = new Logger(PayoutOutcomes.name);

  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(chainConfig.KEY) private readonly config: ChainConfig,
  ) {}

  /**
   * The transfer was verified; any of `transfers`, which are all of one transaction, would confirm the payout. `used`: every
   * one confirmed another payout. Wins the transfer log and the outcome together: a log confirms one payout. On a store
   * without atomic commits the claim comes first: a payout that expires in between keeps it, and the log confirms no other.
   */
  async receive(row: VerifiedRow, transfers: readonly TransferSighting[]): Promise<Outcome | 'used'> {
    for (const evidence of transfers) {
      const claim = {
        category: 'transfer',
        key: `${this.config.chainId}_${row.hash}_${evidence.log_index}`,
        field: 'transaction_hash',
        message: 'was already used by another payout',
      };
      try {
        return await this.end(row, (state, at) => receive({ evidence, at }, state), [claim]);
      } catch (error) {
        if (!(error instanceof ClaimHeld)) throw error;
      }
    }
    return 'used';
  }

  /** The window passed and a last check of the chain did not confirm the payout. */
  expire(row: VerifiedRow, reason: string): Promise<Outcome> {
    return this.end(row, (state, at) => expire({ reason, at }, state));
  }

  /**
   * Ends the window of a pending payout now, as if its transfer had not been found. One that is expired stays so. Only in the
   * sandbox. Throws `not_found`, and `invalid_transition` for one that is received.
   */
  async expireEarly(merchantId: string, payoutId: string, cause: EventMetadata): Promise<void> {
    const reason = expiryReason({ kind: 'not_found' });
    const command = { reason, at: timestamp(this.clock), early: true } as const;
    const decide = (state: PayoutState): PayoutEvent[] => {
      if (state.status === 'unreported' || state.facts.merchant_id !== merchantId)
        throw DomainError.notFound('Payout');
      if (state.status === 'received') throw new DomainError('invalid_transition', 'The payout is received');
      return expire(command, state);
    };
    await this.loop.execute(payout, payoutId, decide, { metadata: cause });
  }

  private async end(
    row: VerifiedRow,
    decide: (state: PayoutState, at: string) => PayoutEvent[],
    claims: readonly Claim[] = [],
  ): Promise<Outcome> {
    const at = timestamp(this.clock);
    const { events, state } = await this.loop.execute(
      payout,
      row.payoutId,
      (current) => (this.matchesReport(row, current) ? decide(current, at) : []),
      { metadata: { actor: 'payouts.verification' }, follows: true, claims },
    );
    if (events.length > 0) return 'written';
    if (state.status !== 'pending') return 'ended';
    if (this.matchesReport(row, state)) return 'early';
    const msg = 'payout not decided: its row was changed outside the service';
    this.logger.error({ msg, payout_id: row.payoutId });
    return 'row_changed';
  }

  private matchesReport({ userId, hash, amountMinor }: VerifiedRow, state: PayoutState): boolean {
    return (
      state.status === 'pending' &&
      state.facts.user_id === userId &&
      state.facts.chain_id === this.config.chainId &&
      comparableHash(state.facts.transaction_hash) === hash &&
      toMinorUnits(state.facts.amount) === amountMinor
    );
  }
}

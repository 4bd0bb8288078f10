import { Inject, Injectable, Logger } from '@nestjs/common';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ClaimHeld, type Claim } from '../../../platform/event-store/command-loop-types.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { toMinorUnits } from '../../../kernel/money.js';
import { comparableHash, type PayoutEvent, type TransferSighting } from '../payouts/payout-events.js';
import { expire, payout, receive, type PayoutState } from '../payouts/payout.js';
import { expiryReason } from './verification.js';
import type { PendingPayout } from './verification-queue.store.js';

/** The row of a verification. It is compared with the events, because a database writer can change it. */
type VerifiedRow = Pick<PendingPayout, 'payoutId' | 'userId' | 'hash' | 'amountMinor'>;

/**
 * The result of an attempt to record the outcome of a payout:
 * - `written`: the outcome is stored now
 * - `ended`: the payout had an outcome already, or was never reported
 * - `early` (the window is not over) or `row_changed` (the row differs from the report)
 */
type Outcome = 'written' | 'ended' | 'early' | 'row_changed';

@Injectable()
export class PayoutOutcomes {
  private readonly logger = new Logger(PayoutOutcomes.name);

  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(chainConfig.KEY) private readonly config: ChainConfig,
  ) {}

  /**
   * Records the payout as received by the first transfer that no other payout has claimed. Returns `used` if
   * all are claimed. Claim and event are one commit. A store without atomic commits writes the claim first,
   * so a payout that expires in between keeps the claim.
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

  expire(row: VerifiedRow, reason: string): Promise<Outcome> {
    return this.end(row, (state, at) => expire({ reason, at }, state));
  }

  /** Expires a pending payout now (sandbox). Throws `not_found`, or `invalid_transition` if received. */
  async expireEarly(merchantId: string, payoutId: string, cause: EventMetadata): Promise<void> {
    const reason = expiryReason({ kind: 'not_found' });
    const command = { reason, at: timestamp(this.clock), early: true } as const;
    const decide = (state: PayoutState): PayoutEvent[] => {
      if (state.status === 'unreported' || state.reported.merchant_id !== merchantId)
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
      state.reported.user_id === userId &&
      state.reported.chain_id === this.config.chainId &&
      comparableHash(state.reported.transaction_hash) === hash &&
      toMinorUnits(state.reported.amount) === amountMinor
    );
  }
}

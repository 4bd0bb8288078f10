import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ClaimHeld, type Claim } from '../../../platform/event-store/command-loop-types.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { payout, receive, type SeenTransfer, expire } from '../domain/payout.js';

/** `ended`: the payout had its outcome already. `used`: every one of the transfers confirmed another payout. */
type ReceiveOutcome = 'received' | 'ended' | 'used';

/** The transfer of a payout was verified; any of `transfers`, which are all of one transaction, would confirm it. */
export class ReceivePayout extends Command<ReceiveOutcome> {
  constructor(
    readonly payoutId: string,
    readonly chainId: number,
    /** Lower-cased. */
    readonly hash: string,
    readonly transfers: readonly SeenTransfer[],
  ) {
    super();
  }
}

/**
 * Wins the transfer log and the outcome together: a log confirms one payout, a payout ends once. On a store without
 * atomic commits the claim comes first: a payout that expires in between keeps it, and the log confirms no other.
 */
@CommandHandler(ReceivePayout)
export class ReceivePayoutHandler implements ICommandHandler<ReceivePayout> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(command: ReceivePayout): Promise<ReceiveOutcome> {
    for (const evidence of command.transfers) {
      const at = timestamp(this.clock);
      try {
        const { events } = await this.loop.execute(
          payout,
          command.payoutId,
          (state) => receive({ evidence, at }, state),
          {
            metadata: { actor: 'payouts.verification' },
            follows: true,
            claims: [transferClaim(command.chainId, command.hash, evidence.log_index)],
          },
        );
        return events.length > 0 ? 'received' : 'ended';
      } catch (error) {
        if (!(error instanceof ClaimHeld)) throw error;
      }
    }
    return 'used';
  }
}

function transferClaim(chainId: number, hash: string, logIndex: number): Claim {
  return {
    category: 'transfer',
    key: `${chainId}_${hash}_${logIndex}`,
    field: 'transaction_hash',
    message: 'was already used by another payout',
  };
}

/** `ended`: the payout had its outcome already. `early`: its window is not over yet. */
type ExpireOutcome = 'expired' | 'ended' | 'early';

/** The window of a payout passed and a last check of the chain did not confirm it. */
export class ExpirePayout extends Command<ExpireOutcome> {
  constructor(
    readonly payoutId: string,
    readonly reason: string,
  ) {
    super();
  }
}

@CommandHandler(ExpirePayout)
export class ExpirePayoutHandler implements ICommandHandler<ExpirePayout> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ payoutId, reason }: ExpirePayout): Promise<ExpireOutcome> {
    const at = timestamp(this.clock);
    const { events, state } = await this.loop.execute(
      payout,
      payoutId,
      (state) => expire({ reason, at }, state),
      { metadata: { actor: 'payouts.verification' }, follows: true },
    );
    if (events.length > 0) return 'expired';
    return state.status === 'pending' ? 'early' : 'ended';
  }
}

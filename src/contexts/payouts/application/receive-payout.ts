import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import {
  ClaimTaken,
  COMMAND_LOOP,
  type Claim,
  type CommandLoop,
} from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { payout, receive } from '../domain/payout.js';

/** `ended`: the payout had its outcome already. `used`: every one of the logs confirmed another payout. */
export type Receipt = 'received' | 'ended' | 'used';

/** The transfer of a payout was verified; any of `logIndexes` of the transaction would confirm it. */
export class ReceivePayout extends Command<Receipt> {
  constructor(
    readonly payoutId: string,
    readonly chainId: number,
    /** Lower-cased. */
    readonly hash: string,
    readonly blockNumber: number,
    readonly logIndexes: readonly number[],
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
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(command: ReceivePayout): Promise<Receipt> {
    for (const logIndex of command.logIndexes) {
      const evidence = { logIndex, blockNumber: command.blockNumber, at: timestamp(this.clock) };
      try {
        const { events } = await this.loop.execute(
          payout,
          command.payoutId,
          (state) => receive(evidence, state),
          { claims: [transferClaim(command.chainId, command.hash, logIndex)] },
        );
        return events.length > 0 ? 'received' : 'ended';
      } catch (error) {
        if (!(error instanceof ClaimTaken)) throw error;
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

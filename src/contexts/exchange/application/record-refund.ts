import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { CommandHandler } from '../../../platform/commands.js';
import { ClaimTaken, COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { readTransactionId } from '../domain/addresses.js';
import { made, order, recordRefund, type MadeOrder, type Refund } from '../domain/order.js';
import { pairOf } from '../domain/tokens.js';
import { REFUND_TRANSFERS, type RefundTransfers } from './ports.js';

export interface RecordedRefund {
  readonly state: MadeOrder;
  /** Why the transfer was not looked up on its chain; null when it was. */
  readonly unchecked: string | null;
}

/**
 * An operator gave money back (contract.md 23.6). Throws `not_found`, or `invalid_transition` for more than is owed and
 * for a transaction that is not the refund.
 */
export class RecordRefund extends Command<RecordedRefund> {
  constructor(
    readonly orderId: string,
    readonly refund: Omit<Refund, 'at'>,
    /** Who has the money now; null: one of those that paid. */
    readonly recipient: string | null = null,
  ) {
    super();
  }
}

@CommandHandler(RecordRefund)
export class RecordRefundHandler implements ICommandHandler<RecordRefund> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(REFUND_TRANSFERS) private readonly transfers: RefundTransfers,
  ) {}

  async execute({ orderId, refund, recipient }: RecordRefund): Promise<RecordedRefund> {
    const before = made((await this.loop.load(order, orderId)).state);
    const { chain } = pairOf(before.facts.pair_id)!.from;
    const transactionHash = readTransactionId(chain, refund.transactionHash);
    if (transactionHash instanceof Fault)
      throw new DomainError('bad_request', `--transaction ${transactionHash.message}`);
    const given = { ...refund, transactionHash, at: timestamp(this.clock) };
    const isNew = recordRefund(given, before).length > 0;
    const unchecked = isNew ? await this.transfers.check(before, { ...given, recipient }) : null;
    const claim = {
      category: 'refund',
      key: `${chain}_${transactionHash}`,
      field: 'transaction',
      message: 'is the refund of another order',
    };
    try {
      const { state } = await this.loop.execute(order, orderId, (current) => recordRefund(given, current), {
        metadata: { actor: 'operator' },
        claims: [claim],
      });
      return { state: made(state), unchecked };
    } catch (error) {
      if (!(error instanceof ClaimTaken)) throw error;
      throw new DomainError(
        'invalid_transition',
        `That transaction is recorded as a refund of ${error.owner}`,
      );
    }
  }
}

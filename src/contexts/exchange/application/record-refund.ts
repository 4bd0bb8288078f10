import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { made, order, recordRefund, type MadeOrder, type Refund } from '../domain/order.js';

/** An operator gave money back (contract.md 23.6). Throws `not_found`, or `invalid_transition` for more than is owed. */
export class RecordRefund extends Command<MadeOrder> {
  constructor(
    readonly orderId: string,
    readonly refund: Omit<Refund, 'at'>,
  ) {
    super();
  }
}

@CommandHandler(RecordRefund)
export class RecordRefundHandler implements ICommandHandler<RecordRefund> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ orderId, refund }: RecordRefund): Promise<MadeOrder> {
    const given = { ...refund, at: timestamp(this.clock) };
    const { state } = await this.loop.execute(order, orderId, (current) => recordRefund(given, current), {
      metadata: { actor: 'operator' },
    });
    return made(state);
  }
}

import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { CommandHandler } from '../../../platform/commands.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { made, markAsPaid, order, type MadeOrder } from '../domain/order.js';
import { actionResponse, ownOrder, type OrderAction } from './order-action.js';

/** The payer says that the transfer is on its way: the order waits longer (contract.md 22.5). Gives it as it is then. */
export class MarkOrderAsPaid extends Command<MadeOrder> {
  constructor(readonly action: OrderAction) {
    super();
  }
}

@CommandHandler(MarkOrderAsPaid)
export class MarkOrderAsPaidHandler implements ICommandHandler<MarkOrderAsPaid> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'exchangePaidWaitSeconds'>,
  ) {}

  async execute({ action }: MarkOrderAsPaid): Promise<MadeOrder> {
    const { facts } = await ownOrder(this.loop, action);
    const now = this.clock.now();
    const command = {
      at: now.toISOString(),
      waitsUntil: new Date(now.getTime() + this.config.exchangePaidWaitSeconds * 1000).toISOString(),
    };
    const { state } = await this.loop.execute(
      order,
      facts.order_id,
      (current) => markAsPaid(command, current),
      { metadata: action.cause, response: actionResponse(action) },
    );
    return made(state);
  }
}

import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { failpoint } from '../../../platform/failpoints.js';
import { eraseOrder } from '../domain/order-erasure.js';
import { made, order } from '../domain/order.js';

/**
 * Erases who an order was for (contract.md 23.7); gives the position to wait for. Throws `not_found`, or
 * `invalid_transition` before the order has ended. An order that is erased stays so.
 */
export class EraseOrder extends Command<string | null> {
  constructor(
    readonly orderId: string,
    readonly actor: string,
  ) {
    super();
  }
}

@CommandHandler(EraseOrder)
export class EraseOrderHandler implements ICommandHandler<EraseOrder> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ orderId, actor }: EraseOrder): Promise<string | null> {
    const at = timestamp(this.clock);
    const decide = (state: Parameters<typeof made>[0]) => eraseOrder({ actor, at }, made(state));
    const { position } = await this.loop.execute(order, orderId, decide, { metadata: { actor: 'operator' } });
    failpoint('order.erasure_recorded');
    return position;
  }
}

import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { cancelOrder, made, order, type MadeOrder } from '../domain/order.js';
import { actionResponse, ownOrder, type OrderAction } from './order-action.js';
import { OrderLook, type Looked } from './order-look.js';
import { providerIsAway } from './provider-calls.js';

/** Cancels a pending order (contract.md 22.5). Gives it as it is then. Throws `unavailable` when the provider is away. */
export class CancelOrder extends Command<MadeOrder> {
  constructor(readonly action: OrderAction) {
    super();
  }
}

/** Looks at the provider first: an order that was paid a moment ago is not cancelled over its deposit. */
@CommandHandler(CancelOrder)
export class CancelOrderHandler implements ICommandHandler<CancelOrder> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly orders: OrderLook,
  ) {}

  async execute({ action }: CancelOrder): Promise<MadeOrder> {
    const { facts, status } = await ownOrder(this.loop, action);
    const isDepositUnderWay =
      status === 'pending' && (await this.look(facts.order_id, action)).isDepositUnderWay;
    const command = { at: timestamp(this.clock), isDepositUnderWay };
    const { state } = await this.loop.execute(
      order,
      facts.order_id,
      (current) => cancelOrder(command, current),
      { metadata: action.cause, response: actionResponse(action) },
    );
    return made(state);
  }

  private look(orderId: string, { cause }: OrderAction): Promise<Looked> {
    return this.orders.look(orderId, cause).catch((error: unknown) => {
      throw providerIsAway(error);
    });
  }
}

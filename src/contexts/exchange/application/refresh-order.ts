import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { LRUCache } from 'lru-cache';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { isOpen, type MadeOrder } from '../domain/order.js';
import { ownOrder, type OrderAction } from './order-action.js';
import { OrderLook } from './order-look.js';
import { providerIsAway } from './provider-calls.js';

/** A look is good for so long: who asks more often is shown what it found. */
const FRESH_MS = 500;
const MOST_REMEMBERED = 10_000;

/**
 * Asks the provider about an order and gives it as it is then (contract.md 22.5). Throws `unavailable` when the provider
 * is away and the order may still change: what is stored is in the list.
 */
export class RefreshOrder extends Command<MadeOrder> {
  constructor(
    readonly orderId: string,
    readonly keyId: string,
    readonly cause: EventMetadata,
    readonly authorize?: OrderAction['authorize'],
  ) {
    super();
  }
}

@CommandHandler(RefreshOrder)
export class RefreshOrderHandler implements ICommandHandler<RefreshOrder> {
  private readonly fresh = new LRUCache<string, true>({ max: MOST_REMEMBERED, ttl: FRESH_MS });

  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    private readonly orders: OrderLook,
  ) {}

  async execute(command: RefreshOrder): Promise<MadeOrder> {
    const known = await ownOrder(this.loop, command);
    const { order_id: orderId } = known.facts;
    const isOver = !isOpen(known) && known.status !== 'processing';
    if (isOver || this.fresh.has(orderId)) return known;
    try {
      const { state } = await this.orders.look(orderId, command.cause);
      this.fresh.set(orderId, true);
      return state;
    } catch (error) {
      throw providerIsAway(error);
    }
  }
}

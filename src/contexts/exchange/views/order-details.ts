import { Injectable } from '@nestjs/common';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { listedOrder, type ListedOrder } from '../domain/listed-order.js';
import { existingOrder, order } from '../domain/order.js';

/** One order, as its stream is now: there is no read model to wait for. */
@Injectable()
export class OrderDetails {
  constructor(private readonly loop: CommandLoop) {}

  /** With its personal fields. Throws `not_found`. */
  async get(id: string): Promise<ListedOrder> {
    return listedOrder(existingOrder(await this.loop.loadForDisplay(order, id)));
  }
}

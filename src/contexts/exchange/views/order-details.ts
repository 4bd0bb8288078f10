import { Injectable } from '@nestjs/common';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
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

  @Searches('orders:read')
  async search({ uuid }: SearchQuery): Promise<readonly Found[]> {
    const state = uuid === null ? null : await this.loop.loadForDisplay(order, uuid);
    return state === null || state.status === 'none' ? [] : [foundOrder(listedOrder(state))];
  }
}

export function foundOrder({ id, merchant_id, pair_id, amount_from, status }: ListedOrder): Found {
  return { kind: 'order', id, merchant_id, title: `${pair_id} of ${amount_from}, ${status}` };
}

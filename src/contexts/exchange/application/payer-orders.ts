import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { RequestedOrder } from '../domain/order-events.js';
import { existingOrder, order, type ExistingOrder } from '../domain/order.js';
import { OrdersView } from '../views/orders.js';

/** The parameters of a pay page's link, which all orders of the page have. */
export type Payer = Omit<RequestedOrder, 'merchant_id' | 'pair_id'>;

/** A payer whose page is open. */
export interface PayerSession extends Payer {
  /** Hash of the secret that signed the link: the session ends with it. Null where the key demands no signature. */
  readonly secret_hash: string | null;
}

/** An order, and how many events it has. */
export interface LoadedOrder {
  readonly state: ExistingOrder;
  readonly revision: number;
}

/** The orders of pay pages. */
@Injectable()
export class PayerOrders {
  constructor(
    private readonly loop: CommandLoop,
    private readonly orders: OrdersView,
  ) {}

  /** An order of this payer, as it is now. Throws `not_found`, also for an order of another payer. */
  async find(payer: Payer, orderId: string): Promise<LoadedOrder> {
    if (!isUuid(orderId)) throw DomainError.notFound('Order');
    const found = await this.load(orderId.toLowerCase());
    if (!isOf(payer, found.state)) throw DomainError.notFound('Order');
    return found;
  }

  /** Those that are newer than the known revision, by id. One that cannot be loaded holds up no other. */
  async changedSince(known: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, LoadedOrder>> {
    const ids = await this.orders.changedSince(known);
    const loads = await Promise.allSettled(ids.map(async (id) => [id, await this.load(id)] as const));
    const failed = loads.filter((each) => each.status === 'rejected');
    if (failed.length === ids.length && failed[0]) throw failed[0].reason;
    return new Map(loads.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  }

  private async load(orderId: string): Promise<LoadedOrder> {
    const { state, revision } = await this.loop.load(order, orderId);
    return { state: existingOrder(state), revision: revision ?? -1 };
  }
}

const NAMES = [
  'key_id',
  'withdraw_address',
  'withdraw_address_tag',
  'withdraw_address_memo',
  'user_id',
] as const satisfies (keyof Payer)[];

function isOf(payer: Payer, { facts }: ExistingOrder): boolean {
  return NAMES.every((name) => facts[name] === payer[name]);
}

import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { RequestedOrder } from '../domain/order-events.js';
import type { ExistingOrder } from '../domain/order.js';
import { OrdersView } from '../views/orders.js';
import { loadOrder, ownOrder, type LoadedOrder } from './order-actions.js';

/** The parameters of a pay page's link, which all orders of the page have. */
export type Payer = Omit<RequestedOrder, 'merchant_id' | 'pair_id'>;

/** A payer whose page is open. */
export interface PayerSession extends Payer {
  /** Hash of the secret that signed the link: the session ends with it. Null where the key demands no signature. */
  readonly secret_hash: string | null;
  /** The link had expired: the session is for orders that exist. */
  readonly has_expired?: boolean;
}

/** The orders of pay pages. */
@Injectable()
export class PayerOrders {
  constructor(
    private readonly loop: CommandLoop,
    private readonly orders: OrdersView,
  ) {}

  /** An order of this payer, as it is now. Throws `not_found`, also for an order of another payer. */
  find(payer: Payer, orderId: string): Promise<LoadedOrder> {
    return ownOrder(this.loop, { orderId, keyId: payer.key_id, authorize: ofPayer(payer) });
  }

  /** Those that are newer than the known revision, by id. One that cannot be loaded holds up no other. */
  async changedSince(known: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, LoadedOrder>> {
    const ids = await this.orders.changedSince(known);
    const loads = await Promise.allSettled(
      ids.map(async (id) => [id, await loadOrder(this.loop, id)] as const),
    );
    const failed = loads.filter((each) => each.status === 'rejected');
    if (failed.length === ids.length && failed[0]) throw failed[0].reason;
    return new Map(loads.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  }
}

const NAMES = [
  'withdraw_address',
  'withdraw_address_tag',
  'withdraw_address_memo',
  'user_id',
] as const satisfies (keyof Payer)[];

/** Throws `not_found` for an order of another payer. */
export function ofPayer(payer: Payer): (order: ExistingOrder) => void {
  return ({ facts }) => {
    if (NAMES.some((name) => facts[name] !== payer[name])) throw DomainError.notFound('Order');
  };
}

import { DomainError } from '../../../kernel/domain-error.js';
import type { Get } from '../../../platform/context.js';
import type { Found, Search } from '../../../platform/operations/search.js';
import type { ListedOrder } from '../domain/listed-order.js';
import { OrdersList } from './orders-list.js';
import { OrderDetails } from './order-details.js';

/** Orders by their id, deposit address, or the hash of a deposit, payment or refund. */
export const orderSearch = (get: Get): Search => ({
  scope: 'orders:read',
  async find({ text, uuid, merchants, limit }) {
    if (uuid !== null) return orderOf(get, uuid);
    const orders = await get<OrdersList>(OrdersList).search(text, merchants, limit);
    return orders.map(found);
  },
});

async function orderOf(get: Get, id: string): Promise<readonly Found[]> {
  try {
    return [found(await get<OrderDetails>(OrderDetails).get(id))];
  } catch (error) {
    if (error instanceof DomainError && error.code === 'not_found') return [];
    throw error;
  }
}

function found({ id, merchant_id, pair_id, amount_from, status }: ListedOrder): Found {
  return { kind: 'order', id, merchant_id, title: `${pair_id} of ${amount_from}, ${status}` };
}

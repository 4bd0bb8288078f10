import { DomainError } from '../../../kernel/domain-error.js';
import type { Get } from '../../../platform/context.js';
import type { Search } from '../../../platform/operations/search.js';
import { OrderDetails } from './order-details.js';

/** Orders by their id. */
export const orderSearch = (get: Get): Search => ({
  scope: 'orders:read',
  async find({ uuid }) {
    if (uuid === null) return [];
    const found = await get<OrderDetails>(OrderDetails)
      .get(uuid)
      .catch((error: unknown) => {
        if (error instanceof DomainError && error.code === 'not_found') return null;
        throw error;
      });
    if (found === null) return [];
    const { id, merchant_id, pair_id, amount_from, status } = found;
    return [{ kind: 'order', id, merchant_id, title: `${pair_id} of ${amount_from}, ${status}` }];
  },
});

import type { Found, Search } from '../../../platform/operations/search.js';
import type { Get } from '../../../platform/operations/operation-definition.js';
import { Database } from '../../../platform/postgres/database.js';

/** Orders by id. */
export function orderSearch(get: Get): Search {
  return {
    scope: 'orders:read',
    find: async ({ uuid }) =>
      uuid === null
        ? []
        : get(Database).query<Found & Record<string, unknown>>(
            `select 'order' as kind, id::text as id, merchant_id,
               'Order, ' || (array['pending', 'paid', 'processing', 'completed', 'cancelled', 'expired', 'failed',
                 'refunded'])[status + 1] as title
             from exchange.orders where id = $1`,
            [uuid],
          ),
  };
}

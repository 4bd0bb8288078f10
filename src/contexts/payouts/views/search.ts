import type { Found, Search } from '../../../platform/operations/search.js';
import type { Get } from '../../../platform/operations/operation-definition.js';
import { PayoutsList, type ListedPayout } from './payouts-list.js';

/** Payouts by id, and by the transaction that was reported. */
export function payoutSearch(get: Get): Search {
  return {
    scope: 'payouts:read',
    find: async ({ text, uuid }) => {
      const payouts = get(PayoutsList);
      if (uuid !== null) {
        const payout = await payouts.find(uuid);
        return payout === null ? [] : [foundOf(payout)];
      }
      const filter = { transactionHash: text };
      const { payouts: rows } = await payouts.page({
        merchants: null,
        filter,
        page: { pageSize: 20, after: undefined },
      });
      return rows.map(foundOf);
    },
  };
}

function foundOf({ id, merchantId, json }: ListedPayout): Found {
  const { amount, status } = JSON.parse(json) as { readonly amount: string; readonly status: string };
  return { kind: 'payout', id, merchant_id: merchantId, title: `${amount} USDC, ${status}` };
}

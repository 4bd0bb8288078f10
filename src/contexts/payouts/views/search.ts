import type { Get } from '../../../platform/context.js';
import type { Found, Search } from '../../../platform/operations/search.js';
import { PayoutsList, type ListedPayout } from './payouts-list.js';

/** Payouts by their id, or by the hash of their transaction. */
export const payoutSearch = (get: Get): Search => ({
  scope: 'payouts:read',
  async find({ text, uuid, merchants, limit }) {
    const payouts = get<PayoutsList>(PayoutsList);
    const byId = uuid === null ? null : await payouts.find(uuid);
    const filter = { transactionHash: text };
    const byHash = await payouts.page({ merchants, filter, page: { pageSize: limit } });
    return [...(byId === null ? [] : [byId]), ...byHash.payouts].map(found);
  },
});

function found({ id, merchantId: merchant_id, json }: ListedPayout): Found {
  const { amount, currency_code, status } = JSON.parse(json) as Record<
    'amount' | 'currency_code' | 'status',
    string
  >;
  return { kind: 'payout', id, merchant_id, title: `${amount} ${currency_code}, ${status}` };
}

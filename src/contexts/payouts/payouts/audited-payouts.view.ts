import type { CheckedTables } from '../../../platform/context.js';
import { everyRow } from '../../../platform/postgres/batches.js';
import { subscriptionName } from '../../../platform/projections/projection.js';

/** The projection of payouts and balances, for which requests wait to read their own writes. */
export const PAYOUT_VIEWS = subscriptionName('payouts.views');

interface BalanceRow {
  readonly user_id: string;
  readonly merchant_id: string;
  readonly confirmed: string;
  readonly pending: string;
}

/** Passes every stored balance to `read`. */
export function readBalances(query: CheckedTables['query'], read: (row: BalanceRow) => void): Promise<void> {
  return everyRow<BalanceRow>(
    query,
    `select user_id, merchant_id, confirmed, pending from payouts.balances
     where $1::uuid is null or user_id > $1 order by user_id limit $2`,
    ({ user_id: id }) => id,
    read,
  );
}

import { fromMinorUnits } from '../../kernel/money.js';
import type { Database } from '../../platform/database/database.js';

/** merchant-api section 2.3; decimal strings of USDC. */
export interface Balance {
  readonly confirmed: string;
  readonly pending: string;
  readonly committed: string;
  readonly currency_code: 'USDC';
}

/** Running totals of a user, kept by the projection; null when the merchant has no such user. */
export async function findBalance(
  database: Database,
  merchantId: string,
  userId: string,
): Promise<Balance | null> {
  const [row] = await database.query<{ confirmed: string; pending: string }>(
    'select confirmed, pending from payouts.balances where user_id = $1 and merchant_id = $2',
    [userId, merchantId],
  );
  if (row === undefined) return null;
  const confirmed = BigInt(row.confirmed);
  const pending = BigInt(row.pending);
  return {
    confirmed: fromMinorUnits(confirmed),
    pending: fromMinorUnits(pending),
    committed: fromMinorUnits(confirmed + pending),
    currency_code: 'USDC',
  };
}

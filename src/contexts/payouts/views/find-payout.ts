import type { Database } from '../../../platform/postgres/database.js';

/** The JSON of one payout of the merchant as the API answers it; null when the merchant has no such payout. */
export async function findPayout(
  database: Database,
  merchantId: string,
  payoutId: string,
): Promise<string | null> {
  const [row] = await database.query<{ body: string }>(
    'select body from payouts.payouts where id = $1 and merchant_id = $2',
    [payoutId, merchantId],
  );
  return row?.body ?? null;
}

import type { Database } from '../../../platform/postgres/database.js';

/** Whether the merchant has this webhook endpoint, and has not deleted it. */
export async function ownsEndpoint(
  database: Database,
  merchantId: string,
  endpointId: string,
): Promise<boolean> {
  const rows = await database.query(
    `select from webhooks.endpoints where endpoint_id = $1 and merchant_id = $2 and status <> 'deleted'`,
    [endpointId, merchantId],
  );
  return rows.length > 0;
}

import { newId } from '../../../src/kernel/ids.js';
import type { Database } from '../../../src/platform/postgres/database.js';

/** Inserts an endpoint like the saga, and returns its id. */
export async function insertEndpoint(
  database: Pick<Database, 'query'>,
  { id = newId(), merchant, status = 'enabled' }: { id?: string; merchant?: string; status?: string } = {},
): Promise<string> {
  await database.query(
    `insert into webhooks.endpoint_snapshots (endpoint_id, merchant_id, url, sealed_signing_secret, status, position)
     values ($1, $2, 'https://example.com', 's', $3, '1')`,
    [id, merchant ?? id, status],
  );
  return id;
}

/** Inserts deliveries. `columns` are SQL expressions over the number `n` of the delivery, from 0. */
export async function insertDeliveries(
  database: Pick<Database, 'query'>,
  endpointId: string,
  count: number,
  columns: Readonly<Record<string, string>> = {},
): Promise<void> {
  const ids = { delivery_id: 'gen_random_uuid()', merchant_id: 'gen_random_uuid()' };
  const all = { ...ids, type: `'payout.received'`, body: `'{}'`, is_test: 'false', ...columns };
  await database.query(
    `insert into webhooks.deliveries (endpoint_id, ${Object.keys(all).join()})
     select $1, ${Object.values(all).join()} from generate_series(0, $2::int - 1) n`,
    [endpointId, count],
  );
}

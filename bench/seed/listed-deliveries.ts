import type pg from 'pg';
import { deriveId } from '../../src/kernel/ids.js';

/** Merchants of the deliveries; the first has a tenth of them all. */
const MERCHANTS = 20;
const ENDPOINTS_OF_EACH = 5;

export interface ListedDeliveries {
  readonly merchantId: string;
  readonly endpointId: string;
}

const idOf = (name: string): string => deriveId('bench lists', name);

/**
 * Deliveries of 90 days to the endpoints of 20 merchants. One in a hundred is exhausted, one in two hundred dropped, the
 * newest thousand are pending; one in a thousand is of a rare type.
 */
export async function seedListedDeliveries(pool: pg.Pool, count: number): Promise<ListedDeliveries> {
  const merchants = Array.from({ length: MERCHANTS }, (_, m) => idOf(`merchant ${m}`));
  const endpoints = merchants.flatMap((_, m) =>
    Array.from({ length: ENDPOINTS_OF_EACH }, (_, e) => idOf(`endpoint ${m} ${e}`)),
  );
  await pool.query(
    `insert into webhooks.endpoint_snapshots (endpoint_id, merchant_id, url, sealed_signing_secret, status, position)
     select id, ($2::uuid[])[1 + (n - 1) / $3::int], 'https://example.com', 'sealed', 'enabled', '1'
     from unnest($1::uuid[]) with ordinality as endpoint (id, n)`,
    [endpoints, merchants, ENDPOINTS_OF_EACH],
  );
  await pool.query(
    `insert into webhooks.deliveries (delivery_id, endpoint_id, merchant_id, type, body, is_test, state, attempts,
       created_at, due_at, finished_at)
     select md5('delivery ' || n)::uuid, ($2::uuid[])[m * $4 + n / 20 % $4 + 1], ($3::uuid[])[m + 1],
       case when n % 1000 = 7 then 'payout.failed' else 'payout.received' end, repeat('x', 300), false, state, 1,
       at, at, case when state <> 'pending' then at end
     from generate_series(1, $1::int) n,
       lateral (select case when n % 10 = 0 then 0 else n % 20 end as m,
         case when n > $1 - 1000 then 'pending' when n % 100 = 1 then 'exhausted' when n % 200 = 2 then 'dropped'
           else 'succeeded' end as state,
         date_trunc('milliseconds', now() - interval '90 days' * (1 - n::float8 / $1::int)) as at) facts`,
    [count, endpoints, merchants, ENDPOINTS_OF_EACH],
  );
  await pool.query('vacuum analyze webhooks.deliveries');
  return { merchantId: merchants[0]!, endpointId: endpoints[0]! };
}

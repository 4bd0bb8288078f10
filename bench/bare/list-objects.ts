import type pg from 'pg';
import type { PayoutFilter } from '../../src/contexts/payouts/views/payouts.js';
import { encodeCursor } from '../../src/platform/postgres/page-cursor.js';

/** The same payouts in a table with a column per field, as one would keep them to map rows to objects. */
export const OBJECTS_TABLE = `
create schema if not exists bench;
drop table if exists bench.objects;
create table bench.objects as
select p.id, p.merchant_id, p.user_id, b.json->>'amount' as amount, b.json->>'currency_code' as currency_code,
  b.json->>'status' as status, b.json->>'transaction_hash' as transaction_hash, b.json->>'reason' as reason,
  b.json->'custom_metadata' as custom_metadata, p.created_at
from payouts.payouts p, lateral (select p.body::json as json) b;
alter table bench.objects add primary key (id);
create index on bench.objects (merchant_id, created_at desc, id desc);
analyze bench.objects;
`;

interface Row {
  readonly id: string;
  readonly user_id: string;
  readonly amount: string;
  readonly currency_code: string;
  readonly status: string;
  readonly transaction_hash: string;
  readonly reason: string | null;
  readonly custom_metadata: object;
  readonly created_at: Date;
}

/** A page the usual way: rows become objects, objects become JSON. Keyset pagination as well; no filters but the place. */
export async function listObjects(pool: pg.Pool, merchantId: string, filter: PayoutFilter): Promise<string> {
  const place = filter.after;
  const { rows } = await pool.query<Row>({
    text: `select id, user_id, amount, currency_code, status, transaction_hash, reason, custom_metadata, created_at
      from bench.objects where merchant_id = $1 ${place ? 'and (created_at, id) < ($3, $4)' : ''}
      order by created_at desc, id desc limit $2`,
    values: [merchantId, filter.pageSize + 1, ...(place ? [place.createdAt, place.id] : [])],
  });
  const payouts = rows.slice(0, filter.pageSize).map((row) => ({
    id: row.id,
    user_id: row.user_id,
    amount: row.amount,
    currency_code: row.currency_code,
    status: row.status,
    transaction_hash: row.transaction_hash,
    reason: row.reason,
    custom_metadata: row.custom_metadata,
    created_at: row.created_at.toISOString(),
  }));
  const last = rows[filter.pageSize - 1];
  const more = rows.length > filter.pageSize && last !== undefined;
  return JSON.stringify({
    payouts,
    next_cursor: more ? encodeCursor({ createdAt: last.created_at, id: last.id }) : null,
  });
}

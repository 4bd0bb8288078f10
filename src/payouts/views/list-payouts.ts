import { pageConditions, type CreatedPage } from '../../platform/database/created-page.js';
import type { Database } from '../../platform/database/database.js';
import { encodeCursor } from '../../platform/http/page-cursor.js';
import { STATUS, type Status } from './fold.js';

/** What GET /merchants/v1/payouts asks for (merchant-api section 4.2). */
export interface PayoutFilter extends CreatedPage {
  readonly userId?: string;
  readonly status?: Status;
}

/** No payout begins on a page after this many bytes of payouts: a thousand may have 16 MB of metadata. */
export const PAGE_BYTES = 4 << 20;

const BEFORE = Buffer.from('{"payouts":[');
/** Where PostgreSQL's times in binary begin, in milliseconds since 1970; they count microseconds. */
const EPOCH_MS = Date.UTC(2000, 0, 1);

/**
 * The JSON text of one page, newest first, in UTF-8, joined by the database from the stored bodies: no row becomes an
 * object and no byte a character. Keyset pagination: a page costs the same wherever it is.
 */
export function listPayouts(database: Database, merchantId: string, filter: PayoutFilter): Promise<Buffer> {
  const { sql, params } = pageQuery(merchantId, filter);
  return database.binaryRow(sql, params, ([bodies, lastAt, lastId]) => {
    const full = lastAt && lastId;
    const cursor = full ? `"${encodeCursor({ createdAt: timeOf(lastAt), id: lastId.toString() })}"` : 'null';
    return Buffer.concat([BEFORE, bodies ?? Buffer.alloc(0), Buffer.from(`],"next_cursor":${cursor}}`)]);
  });
}

function timeOf(timestamptz: Buffer): Date {
  return new Date(Number(timestamptz.readBigInt64BE()) / 1000 + EPOCH_MS);
}

/**
 * One ordered index scan per status, merged by PostgreSQL; every filter is a prefix or a range of its index.
 * A row of the joined bodies, and the time and id of the last payout when another page follows. The page is full at its
 * size or at its bytes; the row after it tells that there is more.
 */
function pageQuery(
  merchantId: string,
  filter: PayoutFilter,
): { sql: string; params: readonly (string | Date)[] } {
  const params: (string | Date)[] = [merchantId];
  const parameter = (value: string | Date): string => `$${params.push(value)}`;
  const conditions = ['merchant_id = $1'];
  if (filter.userId !== undefined) conditions.push(`user_id = ${parameter(filter.userId)}`);
  conditions.push(...pageConditions(filter, 'id', parameter));
  const statuses = filter.status === undefined ? Object.values(STATUS) : [STATUS[filter.status]];
  const branch = (status: number): string =>
    `(select created_at, id, body from payouts.payouts where ${conditions.join(' and ')} and status = ${status}
      order by created_at desc, id desc limit ${filter.pageSize + 1})`;
  const size = filter.pageSize;
  return {
    sql: `select string_agg(body, ',') filter (where fits) as bodies,
                 max(created_at) filter (where is_last) as last_at,
                 max(id::text) filter (where is_last) as last_id
          from (
            select created_at, id, body, fits, fits and not lead(fits, 1, true) over () as is_last
            from (
              select created_at, id, body, row_number() over running <= ${size}
                and sum(octet_length(body)) over running - octet_length(body) < ${PAGE_BYTES} as fits
              from (
                select * from (${statuses.map(branch).join(' union all ')}) merged
                order by created_at desc, id desc limit ${size + 1}
              ) page
              window running as (order by created_at desc, id desc rows unbounded preceding)
            ) measured
          ) numbered`,
    params,
  };
}

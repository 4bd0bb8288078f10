import type { Database } from '../../platform/database/database.js';
import { STATUS, type Status } from './fold.js';
import { encodeCursor, type PagePlace } from './page-cursor.js';

/** What GET /merchants/v1/payouts asks for (merchant-api section 4.2). Dates are `YYYY-MM-DD`, whole days in UTC. */
export interface PayoutFilter {
  readonly userId?: string;
  readonly status?: Status;
  readonly createdFrom?: string;
  readonly createdTo?: string;
  readonly pageSize: number;
  readonly after?: PagePlace;
}

interface Page {
  /** The bodies of the page, joined; null when there are none. */
  readonly bodies: string | null;
  /** Place of the last payout of a full page. */
  readonly last_at: Date | null;
  readonly last_id: string | null;
  /** One more than the page size when another page follows. */
  readonly found: number;
}

/**
 * The JSON text of one page, newest first, joined by the database from the stored bodies: no row becomes an object.
 * Keyset pagination: a page costs the same wherever it is.
 */
export async function listPayouts(
  database: Database,
  merchantId: string,
  filter: PayoutFilter,
): Promise<string> {
  const { sql, params } = pageQuery(merchantId, filter);
  const [page] = await database.query<Page>(sql, params);
  const { bodies, last_at: createdAt, last_id: id, found } = page!;
  const more = found > filter.pageSize && createdAt !== null && id !== null;
  return `{"payouts":[${bodies ?? ''}],"next_cursor":${more ? `"${encodeCursor({ createdAt, id })}"` : 'null'}}`;
}

/** One ordered index scan per status, merged by PostgreSQL; every filter is a prefix or a range of its index. */
export function pageQuery(merchantId: string, filter: PayoutFilter): { sql: string; params: unknown[] } {
  const params: unknown[] = [merchantId];
  const parameter = (value: unknown): string => `$${params.push(value)}`;
  const conditions = ['merchant_id = $1'];
  if (filter.userId !== undefined) conditions.push(`user_id = ${parameter(filter.userId)}`);
  if (filter.createdFrom !== undefined) {
    conditions.push(`created_at >= ${parameter(filter.createdFrom)}::date::timestamp at time zone 'UTC'`);
  }
  if (filter.createdTo !== undefined) {
    conditions.push(`created_at < (${parameter(filter.createdTo)}::date + 1)::timestamp at time zone 'UTC'`);
  }
  if (filter.after !== undefined) {
    const place = `${parameter(filter.after.createdAt)}::timestamptz, ${parameter(filter.after.id)}::uuid`;
    conditions.push(`(created_at, id) < (${place})`);
  }
  const statuses = filter.status === undefined ? Object.values(STATUS) : [STATUS[filter.status]];
  const branch = (status: number): string =>
    `(select created_at, id, body from payouts.payouts where ${conditions.join(' and ')} and status = ${status}
      order by created_at desc, id desc limit ${filter.pageSize + 1})`;
  const size = filter.pageSize;
  return {
    sql: `select string_agg(body, ',') filter (where place <= ${size}) as bodies,
                 max(created_at) filter (where place = ${size}) as last_at,
                 max(id::text) filter (where place = ${size}) as last_id,
                 count(*)::int as found
          from (
            select created_at, id, body, row_number() over () as place
            from (
              select * from (${statuses.map(branch).join(' union all ')}) merged
              order by created_at desc, id desc limit ${size + 1}
            ) page
          ) numbered`,
    params,
  };
}

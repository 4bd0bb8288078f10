import { Injectable } from '@nestjs/common';
import { pageConditions, type CreatedPage } from '../../../platform/postgres/created-page.js';
import type { BinaryFields } from '../../../platform/postgres/binary-row.js';
import { Database } from '../../../platform/postgres/database.js';
import { encodeCursor } from '../../../platform/http/page-cursor.js';
import { STATUS, type Status } from './fold.js';

/** What GET /merchants/v1/payouts asks for (contract.md 9.7). */
export interface PayoutFilter extends CreatedPage {
  readonly userId?: string;
  readonly status?: Status;
}

/** No payout begins on a page after this many bytes of payouts: a thousand may have 16 MB of metadata. */
export const PAGE_BYTES = 4 << 20;

const BEFORE = Buffer.from('{"payouts":[');
/** Where PostgreSQL's times in binary begin, in milliseconds since 1970; they count microseconds. */
const EPOCH_MS = Date.UTC(2000, 0, 1);

/** Which payouts has a merchant reported, and what became of them? */
@Injectable()
export class PayoutsView {
  constructor(private readonly database: Database) {}

  /** The JSON of one payout as the API gives it; null when the merchant has no such payout. */
  async find(merchantId: string, payoutId: string): Promise<string | null> {
    const [row] = await this.database.query<{ body: string }>(
      'select body from payouts.payouts where id = $1 and merchant_id = $2',
      [payoutId, merchantId],
    );
    return row?.body ?? null;
  }

  /**
   * The JSON text of one page, newest first, in UTF-8, joined by the database from the stored bodies: no row becomes an
   * object and no byte a character. Keyset pagination: a page costs the same wherever it is.
   */
  async page(merchantId: string, filter: PayoutFilter): Promise<Buffer> {
    const { rows, params } = pageRows(merchantId, filter);
    const usual = await this.database.binaryRow(pageBySize(rows, filter.pageSize), params, pageText);
    // Adding bytes up row by row costs a page a third: only pages that are too large for one pay for it.
    return usual ?? (await this.database.binaryRow(pageByBytes(rows, filter.pageSize), params, pageText))!;
  }
}

/** Null when the payouts of the page were left out because they have too many bytes. */
function pageText([bodies, lastAt, lastId, fits]: BinaryFields): Buffer | null {
  if (fits![0] === 0) return null;
  const cursor =
    lastAt && lastId ? `"${encodeCursor({ createdAt: timeOf(lastAt), id: lastId.toString() })}"` : 'null';
  return Buffer.concat([BEFORE, bodies ?? Buffer.alloc(0), Buffer.from(`],"next_cursor":${cursor}}`)]);
}

function timeOf(timestamptz: Buffer): Date {
  return new Date(Number(timestamptz.readBigInt64BE()) / 1000 + EPOCH_MS);
}

/**
 * The rows of the page and the one after it, which tells that there is more. One ordered index scan per status, merged by
 * PostgreSQL; every filter is a prefix or a range of its index.
 */
function pageRows(
  merchantId: string,
  filter: PayoutFilter,
): { rows: string; params: readonly (string | Date)[] } {
  const params: (string | Date)[] = [merchantId];
  const parameter = (value: string | Date): string => `$${params.push(value)}`;
  const conditions = ['merchant_id = $1'];
  if (filter.userId !== undefined) conditions.push(`user_id = ${parameter(filter.userId)}`);
  conditions.push(...pageConditions(filter, 'id', parameter));
  const statuses = filter.status === undefined ? Object.values(STATUS) : [STATUS[filter.status]];
  const branch = (status: number): string =>
    `(select created_at, id, body from payouts.payouts where ${conditions.join(' and ')} and status = ${status}
      order by created_at desc, id desc limit ${filter.pageSize + 1})`;
  const rows = `select * from (${statuses.map(branch).join(' union all ')}) merged
    order by created_at desc, id desc limit ${filter.pageSize + 1}`;
  return { rows, params };
}

/** A row of the joined bodies, the time and id of the last payout when another page follows, and whether they fit. */
function pageBySize(rows: string, size: number): string {
  return `select case when fits then bodies end as bodies, last_at, last_id, fits
    from (
      select string_agg(body, ',') filter (where place <= ${size}) as bodies,
             case when count(*) > ${size} then max(created_at) filter (where place = ${size}) end as last_at,
             max(id::text) filter (where place = ${size}) as last_id,
             coalesce(sum(octet_length(body)), 0) <= ${PAGE_BYTES} as fits
      from (select created_at, id, body, row_number() over () as place from (${rows}) page) numbered
    ) summed`;
}

/** The same of the first payouts that have so many bytes. */
function pageByBytes(rows: string, size: number): string {
  return `select string_agg(body, ',') filter (where fits) as bodies,
           max(created_at) filter (where is_last) as last_at,
           max(id::text) filter (where is_last) as last_id,
           true as fits
    from (
      select created_at, id, body, fits, fits and not lead(fits, 1, true) over () as is_last
      from (
        select created_at, id, body, row_number() over running <= ${size}
          and sum(octet_length(body)) over running - octet_length(body) < ${PAGE_BYTES} as fits
        from (${rows}) page
        window running as (order by created_at desc, id desc rows unbounded preceding)
      ) measured
    ) numbered`;
}

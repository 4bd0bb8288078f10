import type { Database } from './database.js';

/** No item begins on a page after this many bytes of items: a page is bounded by bytes as well as by number. */
export const PAGE_BYTES = 4 << 20;

/** A statement for the rows of a page and the one after it, newest first, with `created_at`, `id` and the text `body`. */
export interface BodyRows {
  readonly sql: string;
  readonly params: readonly (string | Date)[];
  readonly pageSize: number;
  /** An expression for one more value of the same statement. */
  readonly companion?: string;
}

interface BodyPage {
  /** The bodies of the page with commas between them. */
  readonly bodies: string;
  /** The last place when another page follows. */
  readonly last: PagePlace | null;
  /** As text. */
  readonly companion: string | null;
}

/**
 * The rows of a page over several statuses, one ordered index scan for each, merged by PostgreSQL: `conditions` have to be
 * a prefix and a range of an index on (..., status, created_at desc, id desc).
 */
export function mergedByStatus(
  table: string,
  conditions: readonly string[],
  statuses: readonly number[],
  pageSize: number,
): string {
  const newest = `order by created_at desc, id desc limit ${pageSize + 1}`;
  const branches = statuses.map(
    (status) =>
      `(select created_at, id, body from ${table} where ${conditions.join(' and ')} and status = ${status} ${newest})`,
  );
  return `select * from (${branches.join(' union all ')}) merged ${newest}`;
}

/** Bodies are joined by the database: no row becomes an object. */
export async function bodyPage(database: Pick<Database, 'query'>, rows: BodyRows): Promise<BodyPage> {
  const read = async (sql: string): Promise<PageRow> => (await database.query<PageRow>(sql, rows.params))[0]!;
  const usual = await read(pageBySize(rows));
  // Adding bytes up row by row costs a page a third: only pages that are too large for one pay for it.
  const {
    bodies,
    last_at: createdAt,
    last_id: id,
    companion,
  } = usual.fits ? usual : await read(pageByBytes(rows));
  return { bodies: bodies ?? '', last: createdAt && id ? { createdAt, id } : null, companion };
}

interface PageRow {
  readonly bodies: string | null;
  readonly last_at: Date | null;
  readonly last_id: string | null;
  readonly fits: boolean;
  readonly companion: string | null;
  readonly [column: string]: unknown;
}

/** A row of the joined bodies, the time and id of the last one when another page follows, and whether they fit. */
function pageBySize({ sql, pageSize, companion = 'null' }: BodyRows): string {
  return `select case when fits then bodies end as bodies, last_at, last_id, fits, (${companion})::text as companion
    from (
      select string_agg(body, ',') filter (where place <= ${pageSize}) as bodies,
             case when count(*) > ${pageSize} then max(created_at) filter (where place = ${pageSize}) end as last_at,
             max(id::text) filter (where place = ${pageSize}) as last_id,
             coalesce(sum(octet_length(body)), 0) <= ${PAGE_BYTES} as fits
      from (select created_at, id, body, row_number() over () as place from (${sql}) page) numbered
    ) summed`;
}

/** The same of the first ones that have so many bytes. */
function pageByBytes({ sql, pageSize, companion = 'null' }: BodyRows): string {
  return `select string_agg(body, ',') filter (where fits) as bodies,
           max(created_at) filter (where is_last) as last_at,
           max(id::text) filter (where is_last) as last_id,
           true as fits, (${companion})::text as companion
    from (
      select created_at, id, body, fits, fits and not lead(fits, 1, true) over () as is_last
      from (
        select created_at, id, body, row_number() over running <= ${pageSize}
          and sum(octet_length(body)) over running - octet_length(body) < ${PAGE_BYTES} as fits
        from (${sql}) page
        window running as (order by created_at desc, id desc rows unbounded preceding)
      ) measured
    ) numbered`;
}

/** A place in a list that is ordered by creation time and id, newest first. Times are exact to the millisecond. */
export interface PagePlace {
  readonly createdAt: Date;
  readonly id: string;
}

/** A place in a list that is ordered by a time that others chose, in microseconds since 1970, and id. */
export interface ExactPlace {
  readonly microseconds: bigint;
  readonly id: string;
}

/** One page of such a list. Dates are `YYYY-MM-DD`, whole days in UTC, both inclusive. */
export interface CreatedPage {
  readonly createdFrom?: string;
  readonly createdTo?: string;
  readonly pageSize: number;
  /** The last place of the page before. */
  readonly after?: PagePlace;
}

/**
 * The conditions that put a row of a table with `created_at` on the page, as SQL. `parameter` takes a value and returns
 * its place, such as `$2`.
 */
export function pageConditions(
  page: Omit<CreatedPage, 'pageSize'>,
  idColumn: string,
  parameter: (value: string | Date) => string,
): string[] {
  const conditions: string[] = [];
  if (page.createdFrom !== undefined) {
    conditions.push(`created_at >= ${parameter(page.createdFrom)}::date::timestamp at time zone 'UTC'`);
  }
  if (page.createdTo !== undefined) {
    conditions.push(`created_at < (${parameter(page.createdTo)}::date + 1)::timestamp at time zone 'UTC'`);
  }
  if (page.after !== undefined) {
    const place = `${parameter(page.after.createdAt)}::timestamptz, ${parameter(page.after.id)}::uuid`;
    conditions.push(`(created_at, ${idColumn}) < (${place})`);
  }
  return conditions;
}

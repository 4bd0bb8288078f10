import type { Database } from './database.js';
import { encodeCursor, type PagePlace } from './page-cursor.js';

/** The size in bytes after which a page ends, even with fewer items than requested. */
export const PAGE_BYTES = 4 << 20;

export interface KeysetPage {
  readonly page_size: number;
  readonly page_cursor?: PagePlace | undefined;
}

/** A range of days in UTC, `YYYY-MM-DD`, both inclusive. */
export interface CreatedDays {
  readonly created_from?: string | undefined;
  readonly created_to?: string | undefined;
}

/** The SQL conditions, each with a value for its `?`: `true` if it has none, null or false to omit it. */
export type Conditions = Readonly<Record<string, unknown>>;

/** A list, newest first, that one statement selects. */
export interface List {
  readonly columns: string;
  readonly from: string;
  readonly time?: string;
  readonly id?: string;
  readonly where?: Conditions;
  /** The first column of the index and the column's values to list; null lists all values. */
  readonly lanes?: {
    readonly column: string;
    readonly type: 'uuid' | 'text';
    readonly values: readonly string[] | null;
  };
  /** The values of the next index column `status` to list within every lane. */
  readonly statuses?: readonly number[];
}

/** Adds the values to the parameters, and returns the conditions with placeholders. */
export function toConditions(where: Conditions, params: unknown[]): string[] {
  return Object.entries(where).flatMap(([sql, value]) => {
    if (value === undefined || value === null || value === false) return [];
    return value === true ? sql : sql.replaceAll('?', `$$${params.push(value)}`);
  });
}

export function inDays(column: string, from?: string, to?: string): Conditions {
  return {
    [`${column} >= ?::date::timestamp at time zone 'UTC'`]: from,
    [`${column} < (?::date + 1)::timestamp at time zone 'UTC'`]: to,
  };
}

export function afterPlace(
  place: PagePlace | undefined,
  time: string,
  id: string,
  params: unknown[],
): string[] {
  if (place === undefined) return [];
  return [`(${time}, ${id}) < ($${params.push(place.time)}::timestamptz, $${params.push(place.id)}::uuid)`];
}

/** Returns SQL for a page and one more row, merged from index ranges. `matching` is the list's condition. */
export function toStatement(list: List, { page_size, page_cursor }: KeysetPage) {
  const { columns, from, time = 'created_at', id = 'id', where = {}, lanes, statuses } = list;
  const params: unknown[] = [];
  const whole = toConditions(where, params);
  const values = lanes?.values ?? null;
  if (values?.length === 1) whole.push(`${lanes!.column} = $${params.push(values[0])}`);
  const lane = values === null || values.length === 1 ? null : `$${params.push(values)}::${lanes!.type}[]`;
  const all = [
    ...whole,
    ...(lane === null ? [] : [`${lanes!.column} = any(${lane})`]),
    ...(statuses === undefined ? [] : [`status in (${statuses.join()})`]),
  ];
  const conditions = [...whole, ...afterPlace(page_cursor, time, id, params)];
  const rows = (...more: readonly string[]): string =>
    `(select ${columns}, ${time} as place_time, ${id} as place_id from ${from}
      where ${['true', ...conditions, ...more].join(' and ')}
      order by ${time} desc, ${id} desc limit ${page_size + 1})`;
  const ranges = (statuses ?? [null]).map((status) => {
    const own = status === null ? [] : [`status = ${status}`];
    if (lane === null) return rows(...own);
    const ofLane = rows(`${lanes!.column} = lane.value`, ...own);
    return `(select newest.* from unnest(${lane}) as lane (value) cross join lateral ${ofLane} newest)`;
  });
  const sql = `select * from (${ranges.join(' union all ')}) merged
    order by place_time desc, place_id desc limit ${page_size + 1}`;
  return { sql, params, matching: ['true', ...all].join(' and ') };
}

/** Reads one page. The values of `time` must have no microseconds, which a Date would lose. */
export async function listPage<Row extends object>(
  database: Pick<Database, 'query'>,
  list: List,
  page: KeysetPage,
) {
  const { sql, params } = toStatement(list, page);
  const found = await database.query<{ place_time: Date; place_id: string }>(sql, params);
  const last = found.length > page.page_size ? found[page.page_size - 1] : undefined;
  return {
    rows: found.slice(0, page.page_size).map(({ place_time: _, place_id: __, ...row }) => row as Row),
    next_cursor: last === undefined ? null : encodeCursor(last.place_time, last.place_id),
  };
}

/** Reads a page of JSON texts `body`. The database joins them, so that no row becomes a JavaScript object. */
export async function bodyPage(
  database: Pick<Database, 'query'>,
  list: Omit<List, 'columns'>,
  page: KeysetPage,
  { withTotal = false } = {},
) {
  const { sql, params, matching } = toStatement({ ...list, columns: 'body' }, page);
  const total = withTotal ? `(select count(*) from ${list.from} where ${matching})` : 'null';
  const read = async (joined: typeof pageBySize): Promise<JoinedRow> =>
    (await database.query<JoinedRow>(joined(sql, page.page_size, total), params))[0]!;
  const usual = await read(pageBySize);
  // A sum of bytes row by row makes a page a third slower, so only large pages use it.
  const joined = usual.fits ? usual : await read(pageByBytes);
  const { bodies, last_at, last_id } = joined;
  const next_cursor = last_at && last_id ? encodeCursor(last_at, last_id) : null;
  return { bodies: bodies ?? '', next_cursor, total: joined.total };
}

interface JoinedRow {
  readonly [column: string]: unknown;
  readonly bodies: string | null;
  readonly last_at: Date | null;
  readonly last_id: string | null;
  readonly fits: boolean;
  readonly total: string | null;
}

/** Selects the joined bodies, whether they fit in PAGE_BYTES, and the place of the last if more follow. */
function pageBySize(sql: string, size: number, total: string): string {
  return `select case when fits then bodies end as bodies, last_at, last_id, fits, ${total}::text as total
    from (
      select string_agg(body, ',') filter (where place <= ${size}) as bodies,
             case when count(*) > ${size} then max(place_time) filter (where place = ${size}) end as last_at,
             max(place_id::text) filter (where place = ${size}) as last_id,
             coalesce(sum(octet_length(body)), 0) <= ${PAGE_BYTES} as fits
      from (select place_time, place_id, body, row_number() over () as place from (${sql}) page) numbered
    ) summed`;
}

/** Selects the columns of `pageBySize`, but only the first bodies, until their size reaches PAGE_BYTES. */
function pageByBytes(sql: string, size: number, total: string): string {
  return `select string_agg(body, ',') filter (where fits) as bodies,
           max(place_time) filter (where is_last) as last_at,
           max(place_id::text) filter (where is_last) as last_id,
           true as fits, ${total}::text as total
    from (
      select place_time, place_id, body, fits, fits and not lead(fits, 1, true) over () as is_last
      from (
        select place_time, place_id, body, row_number() over running <= ${size}
          and sum(octet_length(body)) over running - octet_length(body) < ${PAGE_BYTES} as fits
        from (${sql}) page
        window running as (order by place_time desc, place_id desc rows unbounded preceding)
      ) measured
    ) numbered`;
}

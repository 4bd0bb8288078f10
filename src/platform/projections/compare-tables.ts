import type { PoolClient } from 'pg';
import { FindingList } from '../../kernel/finding-list.js';

export interface TableComparison {
  /** The name of the live table, as `schema.name`. */
  readonly table: string;
  readonly rows: number;
  readonly different: number;
  /** The first differences in key order: `payouts.payouts 1…: status is received, the events say pending`. */
  readonly first: readonly string[];
}

const MAX_LISTED = 20;

export class DifferentRows extends FindingList<string> {
  constructor() {
    super(MAX_LISTED);
  }

  of(table: string, rows: number): TableComparison {
    return { table, rows, different: this.count, first: this.listed };
  }
}

interface Column {
  readonly name: string;
  readonly is_key: boolean;
  readonly comment: string | null;
}

/** The maximum number of displayed characters of a value, around its first difference. */
const MAX_DISPLAYED = 60;

/** Compares texts as JSON. Invalid JSON counts as different. */
const SAME_JSON = `
  create or replace function pg_temp.same_json(a text, b text) returns boolean language plpgsql immutable as $$
  begin
    return coalesce(a::jsonb = b::jsonb, false);
  exception when others then
    return false;
  end $$`;

/** Compares the rows of two tables (`schema.name`). JSON in the columns `json` may differ in member order. */
export async function compareTables(
  tx: Pick<PoolClient, 'query'>,
  live: string,
  rebuilt: string,
  json: readonly string[] = [],
): Promise<TableComparison> {
  const columns = await readColumns(tx, live);
  const keys = columns.filter((column) => column.is_key).map(({ name }) => name);
  const rest = columns.filter((column) => !column.is_key);
  const [key] = keys;
  if (key === undefined) throw new Error(`${live} has no primary key: its rows cannot be compared`);
  if (json.length > 0) await tx.query(SAME_JSON);
  const rebuiltOf = ({ name }: Column): string =>
    json.includes(name)
      ? `(case when l.${name} = r.${name} or pg_temp.same_json(l.${name}, r.${name}) then l.${name} else r.${name} end)`
      : `r.${name}`;
  const differs = rest.map((column) => `l.${column.name} is distinct from ${rebuiltOf(column)}`);
  const from = `from ${live} l full join ${rebuilt} r on ${keys.map((name) => `l.${name} = r.${name}`).join(' and ')}`;
  const isDifferent = [`l.${key} is null`, `r.${key} is null`, ...differs].join(' or ');
  const { rows: counts } = await tx.query<{ rows: number; different: number }>(
    `select count(*)::float8 as rows, (count(*) filter (where ${isDifferent}))::float8 as different ${from}`,
  );
  const { rows, different } = counts[0]!;
  if (different === 0) return { table: live, rows, different, first: [] };
  const { rows: found } = await tx.query<Record<string, string | null>>(
    `select ${keys.map((name, n) => `coalesce(l.${name}, r.${name})::text as key_${n}`).join(', ')},
       case when l.${key} is null then 'live' when r.${key} is null then 'rebuilt' end as missing
       ${rest.map((column, n) => `, l.${column.name}::text as live_${n}, ${rebuiltOf(column)}::text as rebuilt_${n}`).join('')}
     ${from} where ${isDifferent} order by ${keys.map((_, n) => `key_${n}`).join(', ')} limit ${MAX_LISTED}`,
  );
  return {
    table: live,
    rows,
    different,
    first: found.map((row) => describeRow(live, keys.length, rest, row)),
  };
}

async function readColumns(tx: Pick<PoolClient, 'query'>, table: string): Promise<readonly Column[]> {
  const { rows } = await tx.query<Column>(
    `select quote_ident(a.attname) as name, coalesce(a.attnum = any(i.indkey), false) as is_key,
       col_description(a.attrelid, a.attnum) as comment
     from pg_attribute a left join pg_index i on i.indrelid = a.attrelid and i.indisprimary
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`,
    [table],
  );
  return rows;
}

function describeRow(
  table: string,
  keys: number,
  columns: readonly Column[],
  row: Readonly<Record<string, string | null>>,
): string {
  const what = `${table} ${Array.from({ length: keys }, (_, n) => row[`key_${n}`]).join(' ')}`;
  if (row['missing'] === 'live') return `${what}: no row, the events say that there is one`;
  if (row['missing'] === 'rebuilt') return `${what}: a row, the events say that there is none`;
  const fields = columns.flatMap(({ name, comment }, n) => {
    const [live, rebuilt] = [row[`live_${n}`] ?? null, row[`rebuilt_${n}`] ?? null];
    return live === rebuilt ? [] : [describeColumn(name, live, rebuilt, comment)];
  });
  return `${what}: ${fields.join('; ')}`;
}

/** Returns text like `status is received, the events say pending`. Cuts long values around the difference. */
export function describeColumn(
  name: string,
  live: string | null,
  rebuilt: string | null,
  comment: string | null = null,
): string {
  const from = firstDifference(live ?? '', rebuilt ?? '');
  return `${name} is ${displayed(live, from, comment)}, the events say ${displayed(rebuilt, from, comment)}`;
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** The displayed value. The column's comment (`0 pending, 1 received`) maps numbers to words. */
function displayed(value: string | null, from: number, comment: string | null): string {
  if (value === null) return 'null';
  const word = new RegExp(`(?:^|, )${value.replace(/\W/g, '\\$&')} (\\w+)(?=,|$)`).exec(comment ?? '')?.[1];
  if (word !== undefined) return word;
  if (value.length <= MAX_DISPLAYED) return value === '' ? 'empty' : value;
  const start = Math.max(0, Math.min(from - MAX_DISPLAYED / 3, value.length - MAX_DISPLAYED));
  const end = start + MAX_DISPLAYED;
  return `${start > 0 ? '…' : ''}${value.slice(start, end)}${end < value.length ? '…' : ''}`;
}

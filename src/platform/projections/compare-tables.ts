import type { PoolClient } from 'pg';

/** Two tables of one shape, as `schema.name`: what stands there, and what the events say. */
export interface TablePair {
  readonly live: string;
  readonly made: string;
  /** A table of keys, in columns named like those: only these rows are compared. */
  readonly among?: string;
  /** Columns of JSON as text that are the same in whatever order their members stand. */
  readonly json?: readonly string[];
}

export interface TableComparison {
  /** Rows with a key that either of them has. */
  readonly rows: number;
  /** Of these, how many are not the same in both. */
  readonly different: number;
  /** The first of them by key, in words: `payouts.payouts 1234…: status is received, the events say pending`. */
  readonly first: readonly string[];
}

interface Column {
  readonly name: string;
  readonly is_key: boolean;
  readonly comment: string | null;
}

/** Characters shown of a value, around the first one that differs. */
const SHOWN = 60;

/** For texts that differ. What is no JSON is not the same. */
const SAME_JSON = `
  create or replace function pg_temp.same_json(a text, b text) returns boolean language plpgsql immutable as $$
  begin
    return coalesce(a::jsonb = b::jsonb, false);
  exception when others then
    return false;
  end $$`;

/**
 * Compares row by row and column by column, on the primary key of the live table, which both must have. `most`: how many
 * rows are told in words. Reads only.
 */
export async function compareTables(
  tx: Pick<PoolClient, 'query'>,
  { live, made, among, json = [] }: TablePair,
  most = 20,
): Promise<TableComparison> {
  const { keys, rest } = await shapeOf(tx, live);
  if (json.length > 0) await tx.query(SAME_JSON);
  const madeOf = ({ name }: Column): string =>
    json.includes(name)
      ? `(case when l.${name} = m.${name} or pg_temp.same_json(l.${name}, m.${name}) then l.${name} else m.${name} end)`
      : `m.${name}`;
  const differs = rest.map((column) => `l.${column.name} is distinct from ${madeOf(column)}`);
  const [key] = keys;
  const rowsOf = (table: string): string =>
    among === undefined ? table : `(select t.* from ${table} t join ${among} using (${keys.join(', ')}))`;
  const from = `from ${rowsOf(live)} l full join ${rowsOf(made)} m on ${keys.map((name) => `l.${name} = m.${name}`).join(' and ')}`;
  const isDifferent = [`l.${key} is null`, `m.${key} is null`, ...differs].join(' or ');
  const { rows: counts } = await tx.query<{ rows: number; different: number }>(
    `select count(*)::float8 as rows, (count(*) filter (where ${isDifferent}))::float8 as different ${from}`,
  );
  const { rows, different } = counts[0]!;
  if (different === 0 || most === 0) return { rows, different, first: [] };
  const { rows: found } = await tx.query<Record<string, string | null>>(
    `select ${keys.map((name, n) => `coalesce(l.${name}, m.${name})::text as key_${n}`).join(', ')},
       case when l.${key} is null then 'live' when m.${key} is null then 'made' end as missing
       ${rest.map((column, n) => `, l.${column.name}::text as live_${n}, ${madeOf(column)}::text as made_${n}`).join('')}
     ${from} where ${isDifferent} order by ${keys.map((_, n) => `key_${n}`).join(', ')} limit ${most}`,
  );
  return { rows, different, first: found.map((row) => inWords(live, keys.length, rest, row)) };
}

/** Keys of up to `most` rows that are not the same in both, kept in a temporary table; all seen at one moment. */
export async function keepDifferentKeys(
  tx: Pick<PoolClient, 'query'>,
  { live, made }: TablePair,
  into: string,
  most: number,
): Promise<void> {
  const { keys, rest } = await shapeOf(tx, live);
  const [key] = keys;
  const differs = rest.map(({ name }) => `l.${name} is distinct from m.${name}`);
  await tx.query(
    `create temporary table ${into} on commit drop as
     select ${keys.map((name) => `coalesce(l.${name}, m.${name}) as ${name}`).join(', ')}
     from ${live} l full join ${made} m on ${keys.map((name) => `l.${name} = m.${name}`).join(' and ')}
     where ${[`l.${key} is null`, `m.${key} is null`, ...differs].join(' or ')} limit ${most}`,
  );
}

async function shapeOf(
  tx: Pick<PoolClient, 'query'>,
  table: string,
): Promise<{ readonly keys: readonly string[]; readonly rest: readonly Column[] }> {
  const columns = await columnsOf(tx, table);
  const keys = columns.filter((column) => column.is_key).map(({ name }) => name);
  if (keys.length === 0) throw new Error(`${table} has no primary key: its rows cannot be compared`);
  return { keys, rest: columns.filter((column) => !column.is_key) };
}

async function columnsOf(tx: Pick<PoolClient, 'query'>, table: string): Promise<readonly Column[]> {
  const { rows } = await tx.query<Column>(
    `select quote_ident(a.attname) as name, coalesce(a.attnum = any(i.indkey), false) as is_key,
       col_description(a.attrelid, a.attnum) as comment
     from pg_attribute a left join pg_index i on i.indrelid = a.attrelid and i.indisprimary
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`,
    [table],
  );
  return rows;
}

function inWords(
  table: string,
  keys: number,
  columns: readonly Column[],
  row: Readonly<Record<string, string | null>>,
): string {
  const what = `${table} ${Array.from({ length: keys }, (_, n) => row[`key_${n}`]).join(' ')}`;
  if (row['missing'] === 'live') return `${what}: no row, the events say that there is one`;
  if (row['missing'] === 'made') return `${what}: a row, the events say that there is none`;
  const fields = columns.flatMap(({ name, comment }, n) => {
    const [live, made] = [row[`live_${n}`] ?? null, row[`made_${n}`] ?? null];
    return live === made ? [] : [columnInWords(name, live, made, comment)];
  });
  return `${what}: ${fields.join('; ')}`;
}

/** `status is received, the events say pending`; of long values what stands around the first difference. */
export function columnInWords(
  name: string,
  live: string | null,
  made: string | null,
  comment: string | null = null,
): string {
  const from = firstDifference(live ?? '', made ?? '');
  return `${name} is ${shown(live, from, comment)}, the events say ${shown(made, from, comment)}`;
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** Numbers that the comment of a column explains (`0 pending, 1 received`) are told by their word. */
function shown(value: string | null, from: number, comment: string | null): string {
  if (value === null) return 'null';
  const word = new RegExp(`(?:^|, )${value.replace(/\W/g, '\\$&')} (\\w+)(?=,|$)`).exec(comment ?? '')?.[1];
  if (word !== undefined) return word;
  if (value.length <= SHOWN) return value === '' ? 'empty' : value;
  const start = Math.max(0, Math.min(from - SHOWN / 3, value.length - SHOWN));
  const end = start + SHOWN;
  return `${start > 0 ? '…' : ''}${value.slice(start, end)}${end < value.length ? '…' : ''}`;
}

import type { Pool } from 'pg';

/** The number of rows per statement, low enough to hold no lock for long. */
const CHUNK = 1000;

/** Deletes the rows that match a condition on the time `$1`. Returns their number. */
export async function deleteBefore(
  pool: Pool,
  table: string,
  condition: string,
  before: Date,
  signal?: AbortSignal,
): Promise<number> {
  for (let total = 0; ;) {
    const { rowCount } = await pool.query(
      `delete from ${table}
       where ctid = any(array(select ctid from ${table} where ${condition} limit $2)) and ${condition}`,
      [before, CHUNK],
    );
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < CHUNK || signal?.aborted) return total;
  }
}

const ROWS_PER_PAGE = 1000;

type Query = <Row extends object>(sql: string, values: readonly unknown[]) => Promise<readonly Row[]>;

/** Passes all rows to `read`. `sql` selects up to `$2` rows with keys after `$1`, in the order of keys. */
export async function everyRow<Row extends object>(
  query: Query,
  sql: string,
  keyOf: (row: Row) => string,
  read: (row: Row) => void,
): Promise<void> {
  let after: string | null = null;
  for (;;) {
    const rows: readonly Row[] = await query<Row>(sql, [after, ROWS_PER_PAGE]);
    rows.forEach(read);
    if (rows.length < ROWS_PER_PAGE) return;
    after = keyOf(rows.at(-1)!);
  }
}

export function columnArrays<Row extends object>(
  rows: readonly Row[],
  ...names: readonly (keyof Row)[]
): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]));
}

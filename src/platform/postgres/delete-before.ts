import type { Pool } from 'pg';

/** Rows of one statement, which holds no lock for long. */
const CHUNK = 5000;

/** Deletes, in chunks, the rows whose `column` is before the instant; returns how many. Partitions share ctids: not for partitioned tables. */
export async function deleteBefore(
  pool: Pool,
  table: string,
  column: string,
  before: Date,
  signal?: AbortSignal,
): Promise<number> {
  for (let total = 0; ;) {
    const { rowCount } = await pool.query(
      `delete from ${table} where ctid = any(array(select ctid from ${table} where ${column} < $1 limit $2))`,
      [before, CHUNK],
    );
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < CHUNK || signal?.aborted) return total;
  }
}

import type pg from 'pg';

/** Counts the rows of a table, or of any other text after `from`. */
export async function count(pool: pg.Pool, from: string): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from ${from}`);
  return rows[0]!.n;
}

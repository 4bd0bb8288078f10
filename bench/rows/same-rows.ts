import type pg from 'pg';

/** Rows that the service's read models and those of the reference (schema `bench`) do not have in common. */
export async function differences(pool: pg.Pool): Promise<{ payouts: number; balances: number }> {
  const count = async (table: string): Promise<number> => {
    const { rows } = await pool.query<{ n: number }>(
      `select count(*)::int as n from (
         (table payouts.${table} except table bench.${table}) union all (table bench.${table} except table payouts.${table})
       ) different`,
    );
    return rows[0]!.n;
  };
  return { payouts: await count('payouts'), balances: await count('balances') };
}

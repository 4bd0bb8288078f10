import pg from 'pg';
import { foldAndCopy } from '../bare/fold-and-copy.js';
import { compare } from '../harness/compare.js';
import { alternate, timed } from '../harness/measure.js';
import { expectEqual, type Row, type RowContext, type RowOutcome } from '../harness/row.js';
import { LEDGER, ledger, rebuildPayouts } from '../seed/ledger.js';

/** The read models of payouts rebuilt from the whole history. */
export const rebuildRow: Row = {
  name: 'rebuild',
  title: 'rebuild of the read models of payouts and balances from the first event',
  run: runRebuild,
};

async function runRebuild(context: RowContext): Promise<RowOutcome> {
  const { environment, options } = context;
  const seeded = await ledger(context);
  const client = new pg.Client({ connectionString: await environment.database(LEDGER) });
  await client.connect();
  const pool = await environment.pool(LEDGER);
  const count = `select count(*)::int as n from event_store.events where type like 'payout.%' or type = 'user.created.v1'`;
  const events = (await pool.query<{ n: number }>(count)).rows[0]!.n;
  try {
    const samples = await alternate(
      [
        {
          name: 'service',
          run: async () => {
            await environment.checkpoint();
            const rebuilt = await rebuildPayouts(environment, seeded);
            expectEqual('events that the rebuild applied', rebuilt.events, events);
            return { units: events, seconds: rebuilt.seconds };
          },
        },
        {
          name: 'fold',
          run: async () => {
            await environment.checkpoint();
            return { units: events, seconds: await timed(() => foldAndCopy(client)) };
          },
        },
      ],
      // Each of these reads the whole history: a few say as much as many.
      Math.min(options.rounds, 5),
      context.progress,
    );
    context.progress('comparing the rows');
    expectEqual('rows that differ from the reference', await differences(pool), { payouts: 0, balances: 0 });
    const rows = await pool.query<{ n: number }>('select count(*)::int as n from payouts.payouts');
    expectEqual('payouts after the rebuilds', rows.rows[0]!.n, options.payouts);
    return {
      comparisons: [
        compare(samples, {
          label: 'compared with a fold in memory, COPY into fresh tables, then indexes',
          subject: 'service',
          reference: 'fold',
          goal: { atLeast: 0.4 },
        }),
      ],
      notes: [`${events} events, ${options.payouts} payouts`],
    };
  } finally {
    await client.end();
  }
}

/** Rows that the service's read models and those of the reference (schema `bench`) do not have in common. */
async function differences(pool: pg.Pool): Promise<{ payouts: number; balances: number }> {
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

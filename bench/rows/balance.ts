import { compare, type Goal } from '../harness/compare.js';
import { alternate, type Variant } from '../harness/measure.js';
import type { Row, RowContext, RowOutcome } from '../harness/row.js';
import { LEDGER, ledger, type Ledger } from '../seed/ledger.js';
import { startBare } from '../support/bare.js';
import { Fetcher } from '../support/fetcher.js';
import { load } from '../support/load.js';
import { startService } from '../support/service.js';
import { signed } from '../support/sign.js';

const CONNECTIONS = 16;
/** Turns of a variant within a round. */
const SLICES = 4;
const WITHIN_LOOKUP: Goal = { atMost: 1.2 };
const WITHIN_POOR: Goal = { atMost: 1.1 };

/** GET users/{id}/balance: running totals, so that a long history costs nothing. */
export const balanceRow: Row = {
  name: 'balance',
  title: 'GET /merchants/v1/users/{id}/balance',
  run: runBalance,
};

async function runBalance(context: RowContext): Promise<RowOutcome> {
  const { environment, options } = context;
  const made = await ledger(context);
  const service = await startService(environment, { name: LEDGER, env: { ROLES: 'api' } });
  const bare = await startBare(environment, 'read-server', LEDGER, made.merchant);
  const payoutId = await aPayout(context, made);
  await checkBalances(context, made, service.baseUrl, bare.baseUrl);
  const { richUser, poorUser } = made;
  const variants = [
    variant('rich', bare.baseUrl, `/balance/${richUser}`),
    variant('poor', bare.baseUrl, `/balance/${poorUser}`),
    variant('row', bare.baseUrl, `/row/${richUser}`),
    variant('service rich', service.baseUrl, `/merchants/v1/users/${richUser}/balance`),
    variant('service poor', service.baseUrl, `/merchants/v1/users/${poorUser}/balance`),
    variant('service payout', service.baseUrl, `/merchants/v1/payouts/${payoutId}`),
  ];
  const samples = await alternate(variants, options.rounds, context.progress, SLICES);
  const comparison = (label: string, subject: string, reference: string, goal: Goal) =>
    compare(samples, { label, subject, reference, goal });
  return {
    comparisons: [
      comparison('bare shell: balance beside a row by its primary key', 'rich', 'row', WITHIN_LOOKUP),
      comparison('bare shell: beside a user with 10 payouts', 'rich', 'poor', WITHIN_POOR),
      comparison(
        'whole service: balance beside a payout by its id',
        'service rich',
        'service payout',
        WITHIN_LOOKUP,
      ),
      comparison('whole service: beside a user with 10 payouts', 'service rich', 'service poor', WITHIN_POOR),
    ],
    notes: [
      `a user with ${options['user-payouts']} payouts; ${options.reads} reads per variant and round, ${CONNECTIONS} connections`,
    ],
  };

  function variant(name: string, baseUrl: string, path: string): Variant {
    return {
      name,
      run: async () => {
        const count = Math.ceil(options.reads / SLICES / CONNECTIONS) * CONNECTIONS;
        const request = signed(made.merchant, 'GET', path);
        const result = await load(baseUrl, Array<typeof request>(count).fill(request), CONNECTIONS);
        context.checks.equal(`${name}: responses`, result.statuses, { 200: count });
        context.checks.equal(`${name}: lost connections and repeats`, result.troubles, 0);
        return { units: count, seconds: result.seconds };
      },
    };
  }
}

async function aPayout({ environment }: RowContext, { richUser }: Ledger): Promise<string> {
  const pool = await environment.pool(LEDGER);
  const { rows } = await pool.query<{ id: string }>(
    'select id from payouts.payouts where user_id = $1 limit 1',
    [richUser],
  );
  return rows[0]!.id;
}

/** Both users' balances, through the service and through the shell, are the sums of their payouts. */
async function checkBalances(
  context: RowContext,
  made: Ledger,
  service: string,
  shell: string,
): Promise<void> {
  const pool = await context.environment.pool(LEDGER);
  const viaService = new Fetcher(service, made.merchant, 1);
  const viaShell = new Fetcher(shell, made.merchant, 1);
  for (const userId of [made.richUser, made.poorUser]) {
    const { rows } = await pool.query<{ confirmed: string; pending: string; committed: string }>(
      `select trim_scale(coalesce(sum(amount_minor) filter (where status = 1), 0) / 1000000)::text as confirmed,
         trim_scale(coalesce(sum(amount_minor) filter (where status = 0), 0) / 1000000)::text as pending,
         trim_scale(coalesce(sum(amount_minor) filter (where status in (0, 1)), 0) / 1000000)::text as committed
       from payouts.payouts where user_id = $1`,
      [userId],
    );
    const expected = { balance: { ...rows[0]!, currency_code: 'USDC' } };
    const served: unknown = JSON.parse(await viaService.get(`/merchants/v1/users/${userId}/balance`));
    context.checks.equal('balance through the service', served, expected);
    context.checks.equal(
      'balance in the shell',
      JSON.parse(await viaShell.get(`/balance/${userId}`)),
      expected,
    );
  }
  await Promise.all([viaService.close(), viaShell.close()]);
}

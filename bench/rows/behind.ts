import { compare } from '../harness/compare.js';
import { alternate, type Variant } from '../harness/measure.js';
import { row, expectEqual, type RowContext } from '../harness/row.js';
import { LEDGER, ledger } from '../seed/ledger.js';
import { load } from '../support/load.js';
import { createPayees } from '../support/payees.js';
import { reportTo } from '../support/reports.js';
import { startService, type ServiceProcess } from '../support/service.js';
import { signed, type SignedRequest } from '../support/sign.js';

const CONNECTIONS = 16;
const PAYOUTS = 10;
const EMPTY = 'empty';

interface Side {
  readonly name: typeof LEDGER | typeof EMPTY;
  readonly service: ServiceProcess;
  readonly userId: string;
  readonly payoutIds: readonly string[];
}

/** Requests to a service with a very large log and read model, compared with a nearly empty one. */
export const behindRow = row(
  'behind',
  'requests with a long history behind them, compared with an empty service',
  async (context) => {
    const { environment, options } = context;
    const seeded = await ledger(context);
    const beginning = await startService(environment, { name: EMPTY });
    const [user] = await createPayees(beginning, 1);
    const first = Array.from({ length: PAYOUTS }, () => reportTo(beginning.merchant, user!.id));
    await load(beginning.baseUrl, first, 1);
    await beginning.stop();
    const side = async (name: Side['name'], userId: string): Promise<Side> => {
      // No worker runs, so that the pending payouts of the seed are not verified.
      const service = await startService(environment, { name, env: { ROLES: 'api' } });
      const pool = await environment.pool(name);
      const { rows } = await pool.query<{ id: string }>('select id from payouts.payouts where user_id = $1', [
        userId,
      ]);
      expectEqual(`${name}: payouts of the user`, rows.length, PAYOUTS);
      return { name, service, userId, payoutIds: rows.map(({ id }) => id) };
    };
    const sides = [await side(LEDGER, seeded.poorUser), await side(EMPTY, user!.id)];
    const comparisons = [];
    for (const [label, requestOf] of Object.entries(REQUESTS)) {
      const variants = sides.map((each) => variantOf(context, each, requestOf));
      const samples = await alternate(variants, options.rounds, context.progress);
      comparisons.push(compare(samples, { label, subject: LEDGER, reference: EMPTY, goal: { atMost: 1.2 } }));
    }
    return { comparisons, notes: [`${seeded.events} events, ${options.payouts} payouts behind`] };
  },
);

/** Reports come last, because a read waits for the merchant's writes. */
const REQUESTS: Readonly<Record<string, (side: Side, n: number) => SignedRequest>> = {
  'a payout': ({ service, payoutIds }, n) =>
    signed(service.merchant, 'GET', `/merchants/v1/payouts/${payoutIds[n % PAYOUTS]}`),
  'a user': ({ service, userId }) => signed(service.merchant, 'GET', `/merchants/v1/users/${userId}`),
  'a page of payouts': ({ service }) =>
    signed(service.merchant, 'GET', `/merchants/v1/payouts?page_size=${PAYOUTS}`),
  'a report': ({ service, userId }) => reportTo(service.merchant, userId),
};

function variantOf(
  { options }: RowContext,
  side: Side,
  requestOf: (side: Side, n: number) => SignedRequest,
): Variant {
  const { name, service } = side;
  return {
    name,
    run: async () => {
      const count = CONNECTIONS * options.reports;
      const requests = Array.from({ length: count }, (_, n) => requestOf(side, n));
      const status = requests[0]!.method === 'GET' ? 200 : 201;
      return { units: count, seconds: await load(service.baseUrl, requests, CONNECTIONS, status) };
    },
  };
}

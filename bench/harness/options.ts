import { parseArgs } from 'node:util';

const GOAL_SIZES = {
  rounds: 7,
  /** Connections of the load generator on the report row. */
  connections: 64,
  /** Reports per connection, variant and round. */
  reports: 200,
  users: 40,
  /** Payouts in the list and in the audited log. */
  payouts: 1_000_000,
  /** Payouts of one user among them. */
  'user-payouts': 100_000,
  /** Pages per variant and round. */
  pages: 64,
  /** Deliveries per variant and round. */
  deliveries: 20_000,
  /** Endpoints of the deliveries, which also go to one endpoint alone. */
  endpoints: 1000,
  /** Event batches of 1000 items per variant and round. */
  batches: 256,
  /** Events before the batches are processed. */
  history: 5_000_000,
  minutes: 120,
};

type Sizes = typeof GOAL_SIZES;

export interface Options extends Readonly<Sizes> {
  readonly rows: readonly string[];
  readonly json: string | null;
}

const QUICK_SIZES: Sizes = {
  ...GOAL_SIZES,
  rounds: 3,
  reports: 15,
  users: 12,
  payouts: 20_000,
  'user-payouts': 5000,
  pages: 16,
  deliveries: 2000,
  endpoints: 100,
  batches: 64,
  history: 200_000,
  minutes: 5,
};

/** Parses the command line, whose help is in scripts/run.mjs. Throws with the fault. */
export function readOptions(argv: readonly string[], rows: readonly string[]): Options {
  const sizes = Object.fromEntries(
    Object.keys(GOAL_SIZES).map((name) => [name, { type: 'string' as const }]),
  );
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { ...sizes, quick: { type: 'boolean' }, json: { type: 'string' } },
  });
  const unknown = positionals.filter((name) => !rows.includes(name));
  if (unknown.length > 0) throw new Error(`no row is called ${unknown.join(', ')}: ${rows.join(', ')}`);
  const defaults = values.quick === true ? QUICK_SIZES : GOAL_SIZES;
  const size = (name: keyof Sizes): number => {
    const given = (values as Record<string, unknown>)[name];
    if (typeof given !== 'string') return defaults[name];
    if (!/^[1-9][0-9]*$/.test(given)) throw new Error(`--${name} must be a positive whole number`);
    return Number(given);
  };
  const chosen = Object.fromEntries(
    (Object.keys(defaults) as (keyof Sizes)[]).map((name) => [name, size(name)]),
  );
  return {
    ...(chosen as Sizes),
    rows: positionals.length > 0 ? positionals : rows,
    json: typeof values.json === 'string' ? values.json : null,
  };
}

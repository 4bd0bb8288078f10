import { parseArgs } from 'node:util';

/** Sizes and counts of a run. The defaults are the sizes of the goals. */
export interface Options {
  readonly rows: readonly string[];
  readonly rounds: number;
  readonly json: string | null;
  /** Connections of the load generator on the report row. */
  readonly connections: number;
  /** Reports per connection, variant and round. */
  readonly reports: number;
  /** Users that reports go to. */
  readonly users: number;
  /** Payouts in the list. */
  readonly payouts: number;
  /** Payouts of the one user whose balance is read. */
  readonly userPayouts: number;
  /** Pages per variant and round. */
  readonly pages: number;
  /** Balance reads per variant and round. */
  readonly reads: number;
  /** Events to catch up with per round. */
  readonly catchup: number;
  /** Deliveries per variant and round. */
  readonly deliveries: number;
  /** Deliveries per round where each is a job of BullMQ on PostgreSQL. */
  readonly jobs: number;
  /** Endpoints that deliveries are spread over, beside one. */
  readonly endpoints: number;
  /** Event batches of 1000 items per variant and round. */
  readonly batches: number;
  /** Events that were there before the batches are processed. */
  readonly history: number;
}

const GOAL_SIZES = {
  rounds: 7,
  connections: 64,
  reports: 200,
  users: 40,
  payouts: 1_000_000,
  'user-payouts': 100_000,
  pages: 64,
  reads: 8000,
  catchup: 200_000,
  deliveries: 20_000,
  jobs: 2000,
  endpoints: 1000,
  batches: 256,
  history: 5_000_000,
};

const QUICK_SIZES: typeof GOAL_SIZES = {
  ...GOAL_SIZES,
  rounds: 3,
  reports: 15,
  users: 12,
  payouts: 20_000,
  'user-payouts': 5000,
  pages: 16,
  reads: 1600,
  catchup: 10_000,
  deliveries: 2000,
  jobs: 300,
  endpoints: 100,
  batches: 64,
  history: 200_000,
};

export const USAGE = `npm run bench -- [rows] [options]

rows        report list balance rebuild catchup deliveries events-accept events-process start (default: all)
--quick     small sizes, to see that everything works; its ratios say little
--json FILE the results for machines
${Object.entries(GOAL_SIZES)
  .map(([name, value]) => `--${name.padEnd(13)} default ${value}`)
  .join('\n')}
`;

/** Reads the command line. Throws an Error whose message tells the user what is wrong. */
export function readOptions(argv: readonly string[], rows: readonly string[]): Options {
  const sizes = Object.fromEntries(
    Object.keys(GOAL_SIZES).map((name) => [name, { type: 'string' as const }]),
  );
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { ...sizes, quick: { type: 'boolean' }, help: { type: 'boolean' }, json: { type: 'string' } },
  });
  if (values.help === true) throw new Error(USAGE);
  const unknown = positionals.filter((name) => !rows.includes(name));
  if (unknown.length > 0) throw new Error(`no row is called ${unknown.join(', ')}\n\n${USAGE}`);
  const defaults = values.quick === true ? QUICK_SIZES : GOAL_SIZES;
  const size = (name: keyof typeof GOAL_SIZES): number => {
    const given = (values as Record<string, unknown>)[name];
    if (typeof given !== 'string') return defaults[name];
    if (!/^[1-9][0-9]*$/.test(given))
      throw new Error(`--${name} must be a positive whole number\n\n${USAGE}`);
    return Number(given);
  };
  return {
    rows: positionals.length > 0 ? positionals : rows,
    rounds: size('rounds'),
    json: typeof values.json === 'string' ? values.json : null,
    connections: size('connections'),
    reports: size('reports'),
    users: size('users'),
    payouts: size('payouts'),
    userPayouts: size('user-payouts'),
    pages: size('pages'),
    reads: size('reads'),
    catchup: size('catchup'),
    deliveries: size('deliveries'),
    jobs: size('jobs'),
    endpoints: size('endpoints'),
    batches: size('batches'),
    history: size('history'),
  };
}

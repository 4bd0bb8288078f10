import { parseArgs } from 'node:util';
import { adminFuzz } from './suites/admin-fuzz.js';
import { clientFaults } from './suites/client-faults.js';
import { clientKills } from './suites/client-kills.js';
import { cluster } from './suites/cluster.js';
import { deliveries } from './suites/deliveries.js';
import { events } from './suites/events.js';
import { failpoints } from './suites/failpoints.js';
import { fairness } from './suites/fairness.js';
import { fuzz } from './suites/fuzz.js';
import { gameday } from './suites/gameday.js';
import { killApp, killBoth, killPostgres } from './suites/kills.js';
import { lyingNode } from './suites/lying-node.js';
import { onboarding } from './suites/onboarding.js';
import { operations } from './suites/operations.js';
import { orderRaces } from './suites/order-races.js';
import { orders } from './suites/orders.js';
import { ordinaryLife } from './suites/ordinary-life.js';
import { promotions } from './suites/promotions.js';
import { reorganisations } from './suites/reorganisations.js';
import { restores } from './suites/restores.js';
import { sigterm } from './suites/sigterm.js';
import { skewedClock } from './suites/skewed-clock.js';
import { ATTACKS, slowReaders } from './suites/slow-readers.js';
import { standstill } from './suites/standstill.js';
import { tamperings } from './suites/tamperings.js';
import { twoVersions } from './suites/two-versions.js';
import { upgrades } from './suites/upgrades.js';
import { CLIENTS, EVENT_VICTIMS, seconds, SIZES, type Suite } from './support/suite.js';
import { Verdict } from './support/verdict.js';

interface UsualRun {
  readonly suite: Suite;
  readonly count: number;
  readonly of: string;
}

const SUITES: Readonly<Record<string, UsualRun>> = {
  failpoints: { suite: failpoints, count: 2, of: 'rounds over all points' },
  'kill-app': { suite: killApp, count: 100, of: 'kills' },
  'kill-postgres': { suite: killPostgres, count: 100, of: 'kills' },
  'kill-both': { suite: killBoth, count: 30, of: 'kills' },
  sigterm: { suite: sigterm, count: 20, of: 'terminations' },
  deliveries: { suite: deliveries, count: 100, of: 'kills' },
  fairness: { suite: fairness, count: 1, of: 'rounds' },
  events: { suite: events, count: 100, of: 'kills between 202 and processing' },
  'order-races': { suite: orderRaces, count: 10_000, of: 'interleavings' },
  operations: { suite: operations, count: 10_000, of: 'interleavings' },
  orders: { suite: orders, count: 100, of: 'kills' },
  onboarding: { suite: onboarding, count: 100, of: 'kills' },
  fuzz: { suite: fuzz, count: 100_000, of: 'requests' },
  'admin-fuzz': { suite: adminFuzz, count: 1_000_000, of: 'requests' },
  'client-kills': { suite: clientKills, count: 1000, of: 'kills' },
  'client-faults': { suite: clientFaults, count: 10_000, of: 'faults' },
  'lying-node': { suite: lyingNode, count: 10, of: 'rounds' },
  'skewed-clock': { suite: skewedClock, count: 3, of: 'rounds' },
  reorganisations: { suite: reorganisations, count: 1000, of: 'reorganisations' },
  standstill: { suite: standstill, count: 40, of: 'processes that are stopped' },
  'two-versions': { suite: twoVersions, count: 5, of: 'rounds' },
  upgrades: { suite: upgrades, count: 3, of: 'upgrades and ways back' },
  restores: { suite: restores, count: 6, of: 'drills' },
  gameday: { suite: gameday, count: 1, of: 'rounds over all faults' },
  promotions: { suite: promotions, count: 30, of: 'promotions' },
  cluster: { suite: cluster, count: 12, of: 'faults of the leader' },
  'ordinary-life': { suite: ordinaryLife, count: 1000, of: 'runs' },
  tamperings: { suite: tamperings, count: 10_000, of: 'tamperings' },
  'slow-readers': { suite: slowReaders, count: 1, of: 'rounds over all attacks' },
};

/** The options of single suites. The first value of `--queue` is its default. */
const CHOICES = {
  queue: ['postgres', 'redis'],
  kill: EVENT_VICTIMS,
  attack: ATTACKS,
  client: CLIENTS,
} as const;

/**
 * `npm run chaos -- <suite> [--count N]`. Exit code 0 when every fact is true, 1 when one is false, 2 for a
 * wrong call. Without arguments it lists the suites with their usual counts.
 */
async function main(): Promise<number> {
  const names = ['count', 'from', ...Object.keys(CHOICES), ...SIZES];
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: Object.fromEntries(names.map((name) => [name, { type: 'string' } as const])),
  });
  const [name] = positionals;
  if (name === undefined) {
    console.log(usage());
    return 0;
  }
  const sizes = Object.fromEntries(
    ['count', ...SIZES].flatMap((size) => (values[size] === undefined ? [] : [[size, Number(values[size])]])),
  ) as Readonly<Partial<Record<'count' | (typeof SIZES)[number], number>>>;
  const isWrong =
    Object.values(sizes).some((size) => !Number.isInteger(size) || size < 1) ||
    Object.entries(CHOICES).some(
      ([option, choices]) =>
        values[option] !== undefined && !(choices as readonly unknown[]).includes(values[option]),
    );
  const chosen = SUITES[name];
  if (chosen === undefined || isWrong) {
    console.error(usage());
    return 2;
  }
  const { suite, of, count = chosen.count } = { ...chosen, ...sizes };
  const say = (line: string): void => console.log(line);
  const verdict = new Verdict(say);
  const began = performance.now();
  say(`${name}: ${count} ${of}`);
  try {
    await suite({ ...values, count, verdict, say, sizes });
  } catch (error) {
    verdict.expect(false, 'the suite ends', (error as Error).stack ?? String(error));
  }
  say(`${name}: ${verdict.summary()} (${seconds(performance.now() - began)})`);
  return verdict.broken.length === 0 ? 0 : 1;
}

function usage(): string {
  const suites = Object.entries(SUITES).map(([name, { count, of }]) => `  ${name.padEnd(16)}${count} ${of}`);
  const kills = EVENT_VICTIMS.join('|');
  return `npm run chaos -- <suite> [--count N], with options by --help; --kill ${kills}; --attack ${ATTACKS.join('|')}
docs/chaos.md has what each suite promises

${suites.join('\n')}`;
}

process.exitCode = await main().catch((error: NodeJS.ErrnoException) => {
  if (!error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
  console.error(error.message);
  return 2;
});

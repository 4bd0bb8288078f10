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

const SUITES = {
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
} satisfies Readonly<Record<string, UsualRun>>;

/** The promise that each suite verifies. */
const PROMISES: Readonly<Record<keyof typeof SUITES, string>> = {
  failpoints: 'a request that a crash interrupted is repeated under its key and runs once (contract.md 4.3)',
  'kill-app':
    'what had a 201 is stored, verified and delivered once, although the service crashes (contract.md 4.3, 11.2, 13.7)',
  'kill-postgres': 'the same, although PostgreSQL crashes; the service continues without an operator',
  'kill-both': 'the same, although both crash at once',
  sigterm: 'a deploy cuts off no request that was accepted (contract.md 4.3)',
  deliveries: 'every delivery arrives, unchanged and signed, although workers crash (contract.md 13.2, 13.7)',
  fairness: 'a slow or hanging receiver delays no delivery of others (contract.md 14.5)',
  events: 'an accepted event is stored once and forwarded (contract.md 17.1, 17.5, 17.10)',
  'order-races':
    'concurrent actions and deposits leave an order one history, and its money is accounted for (contract.md 23)',
  operations:
    'no operation is executed twice, without its second person, or at another revision (admin-api.md 4)',
  orders:
    'an order and its deposits survive crashes, outages of the node and stopped processes (contract.md 23)',
  onboarding:
    'a person ends active with one identity check, one wallet and one card (contract.md 18.20, 18.23)',
  fuzz: 'no request gets a 500, an undocumented error or no response (contract.md 3.1, 3.8)',
  'admin-fuzz':
    'no request to the admin API or the portal gets a 5xx, more than its caller may read, or a change with a refusal (admin-api.md 1 to 3)',
  'client-kills':
    'a backend that is killed between sending and reading reports every payout once, by the client alone (packages/sdk)',
  'client-faults': 'every call of the client ends with the right result or the right error (packages/sdk)',
  'lying-node': 'no outcome rests on what a node alone says wrongly (contract.md 10.6)',
  'skewed-clock': 'a wrong clock expires no payout (contract.md 10.4, 10.6)',
  reorganisations: 'books and chain agree after reorganisations (contract.md 10.2, 23.2)',
  standstill: 'a process that is stopped delays no other (contract.md 7.2)',
  'two-versions': 'during a deploy old and new processes lose nothing (contract.md 7.3)',
  upgrades:
    'an upgrade and the way back, by role and under load, fail no request but with a 503 that clients repeat (upgrading.md)',
  restores:
    'backup and archive bring the service back; what is lost is known, and what clients repeat is there again (backup.md)',
  gameday: 'what breaks is alerted within two minutes, by the right alert alone (runbooks.md)',
  promotions:
    'what had a 201 survives the loss of the primary, a former primary acknowledges nothing, and writes are back within 10 s (production.md)',
  cluster:
    'with events in a cluster of EventStoreDB, what had a 201 is stored once although leaders fail (eventstoredb.md)',
  'ordinary-life': 'an audit of everything that a merchant may do is in order (auditing.md)',
  tamperings:
    'any change in the database is detected and located, and no forged event has an effect (auditing.md)',
  'slow-readers': 'no client delays others or exhausts the memory of the process (limits.md)',
};

/** The options of single suites with their values. The first value of `--queue` is its default. */
const CHOICES = {
  queue: ['postgres', 'redis'],
  kill: EVENT_VICTIMS,
  attack: ATTACKS,
  client: CLIENTS,
} as const;

/**
 * `npm run chaos -- <suite> [--count N]`. Exit code 0 when every fact held, 1 when one was broken, 2 for a wrong call.
 * Without arguments it lists the suites with their promises.
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
  const chosen = (SUITES as Readonly<Record<string, UsualRun>>)[name];
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
  const suites = Object.entries(SUITES).map(([name, { count, of }]) => {
    const promise = PROMISES[name as keyof typeof SUITES];
    return `  ${name.padEnd(15)} ${promise}\n${' '.repeat(18)}${count} ${of}`;
  });
  return `npm run chaos -- <suite> [--count N]: each suite with its promise, and the count unless --count is given

${suites.join('\n')}

sizes that some accept: ${SIZES.map((name) => `[--${name} N]`).join(' ')}
deliveries and fairness accept [--queue ${CHOICES.queue.join('|')}]
client-kills and client-faults accept [--client ${CHOICES.client.join('|')}]
events accepts [--kill ${CHOICES.kill.join('|')}]
upgrades accepts [--from TAG]
slow-readers accepts [--attack ${CHOICES.attack.join('|')}]`;
}

process.exitCode = await main().catch((error: NodeJS.ErrnoException) => {
  if (!error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
  console.error(error.message);
  return 2;
});

import { parseArgs } from 'node:util';
import { deliveries } from './suites/deliveries.js';
import { events } from './suites/events.js';
import { failpoints } from './suites/failpoints.js';
import { fairness } from './suites/fairness.js';
import { fuzz } from './suites/fuzz.js';
import { giantReceipts } from './suites/giant-receipts.js';
import { hostile } from './suites/hostile.js';
import { keys } from './suites/keys.js';
import { killApp, killBoth, killPostgres } from './suites/kills.js';
import { onboarding } from './suites/onboarding.js';
import { ordinaryLife } from './suites/ordinary-life.js';
import { orderRaces } from './suites/order-races.js';
import { orders } from './suites/orders.js';
import { races } from './suites/races.js';
import { lyingNode } from './suites/lying-node.js';
import { reorganisations } from './suites/reorganisations.js';
import { repeats } from './suites/repeats.js';
import { sigterm } from './suites/sigterm.js';
import { skewedClock } from './suites/skewed-clock.js';
import { standstill } from './suites/standstill.js';
import { ATTACKS, slowReaders } from './suites/slow-readers.js';
import { tamperings } from './suites/tamperings.js';
import { twoVersions } from './suites/two-versions.js';
import { EVENT_VICTIMS, seconds, SIZES, type Suite } from './support/suite.js';
import { Verdict } from './support/verdict.js';

interface Entry {
  readonly suite: Suite;
  readonly count: number;
  readonly of: string;
  /** What merchants and operators rely on, and this suite holds. */
  readonly promise: string;
}

const SUITES: Readonly<Record<string, Entry>> = {
  repeats: {
    suite: repeats,
    count: 12,
    of: 'rounds',
    promise: 'a request repeated under its Idempotency-Key runs once (contract.md 4.2, 4.3)',
  },
  failpoints: {
    suite: failpoints,
    count: 2,
    of: 'turns over all points',
    promise: 'a request that a crash interrupted is repeated under its key and runs once (contract.md 4.3)',
  },
  'kill-app': {
    suite: killApp,
    count: 100,
    of: 'kills',
    promise:
      'what had a 201 is stored, verified and delivered once, although the service crashes (contract.md 4.3, 11.2, 13.7)',
  },
  'kill-postgres': {
    suite: killPostgres,
    count: 100,
    of: 'kills',
    promise: 'the same, although PostgreSQL crashes; the service continues without an operator',
  },
  'kill-both': {
    suite: killBoth,
    count: 30,
    of: 'kills',
    promise: 'the same, although both crash at once',
  },
  sigterm: {
    suite: sigterm,
    count: 20,
    of: 'terminations',
    promise: 'a deploy cuts off no request that was accepted (contract.md 4.3)',
  },
  races: {
    suite: races,
    count: 5,
    of: 'rounds',
    promise:
      'two workers give a payout one outcome, and a transfer confirms one payout (contract.md 10.3, 10.6)',
  },
  deliveries: {
    suite: deliveries,
    count: 100,
    of: 'kills',
    promise: 'every delivery arrives, unchanged and signed, although workers crash (contract.md 13.2, 13.7)',
  },
  fairness: {
    suite: fairness,
    count: 1,
    of: 'rounds',
    promise: 'a slow or hanging receiver delays no delivery of others (contract.md 14.5)',
  },
  events: {
    suite: events,
    count: 100,
    of: 'kills between 202 and processing',
    promise: 'an accepted event is stored once and forwarded (contract.md 17.1, 17.5, 17.10)',
  },
  'order-races': {
    suite: orderRaces,
    count: 10_000,
    of: 'interleavings',
    promise:
      'concurrent actions and deposits leave an order one history, and its money is accounted for (contract.md 23)',
  },
  orders: {
    suite: orders,
    count: 100,
    of: 'kills',
    promise:
      'an order and its deposits survive crashes, outages of the node and stopped processes (contract.md 23)',
  },
  onboarding: {
    suite: onboarding,
    count: 100,
    of: 'kills',
    promise:
      'a person ends active with one identity check, one wallet and one card (contract.md 18.20, 18.23)',
  },
  fuzz: {
    suite: fuzz,
    count: 100_000,
    of: 'requests',
    promise: 'no request gets a 500, an undocumented error or no response (contract.md 3.1, 3.8)',
  },
  'giant-receipts': {
    suite: giantReceipts,
    count: 3,
    of: 'rounds',
    promise: 'the transactions of one merchant delay no payout of others (contract.md 10.1)',
  },
  'lying-node': {
    suite: lyingNode,
    count: 10,
    of: 'rounds',
    promise: 'no outcome rests on what a node alone says wrongly (contract.md 10.6)',
  },
  'skewed-clock': {
    suite: skewedClock,
    count: 6,
    of: 'rounds',
    promise: 'a wrong clock expires no payout (contract.md 10.4, 10.6)',
  },
  reorganisations: {
    suite: reorganisations,
    count: 1000,
    of: 'reorganisations',
    promise: 'books and chain agree after reorganisations (contract.md 10.2, 23.2)',
  },
  standstill: {
    suite: standstill,
    count: 40,
    of: 'processes that are stopped',
    promise: 'a process that is stopped delays no other (contract.md 7.2)',
  },
  keys: {
    suite: keys,
    count: 5,
    of: 'rotations',
    promise: 'the master key is replaced without a failed request (keys.md)',
  },
  'two-versions': {
    suite: twoVersions,
    count: 5,
    of: 'rounds',
    promise: 'during a deploy old and new processes lose nothing (contract.md 7.3)',
  },
  'ordinary-life': {
    suite: ordinaryLife,
    count: 1000,
    of: 'runs',
    promise: 'an audit of everything that a merchant may do is in order (auditing.md)',
  },
  tamperings: {
    suite: tamperings,
    count: 10_000,
    of: 'tamperings',
    promise:
      'any change in the database is detected and located, and no forged event has an effect (auditing.md)',
  },
  hostile: {
    suite: hostile,
    count: 3,
    of: 'times 100 at once',
    promise: 'no receiver holds an attempt, a socket or memory (contract.md 14.2)',
  },
  'slow-readers': {
    suite: slowReaders,
    count: 1,
    of: 'turns over all attacks',
    promise: 'no client takes the process from others (limits.md)',
  },
};

const QUEUES = ['postgres', 'redis'] as const;

/**
 * `npm run chaos -- <suite> [--count N]`: 0 when every fact held, 1 when one was broken, 2 for a wrong call. Without
 * arguments each suite with its promise.
 */
async function main(): Promise<number> {
  const names = ['count', 'queue', 'kill', 'attack', ...SIZES];
  const parsed = parseArgs({
    allowPositionals: true,
    options: {
      ...Object.fromEntries(names.map((name) => [name, { type: 'string' } as const])),
      help: { type: 'boolean' },
    },
  });
  const { positionals } = parsed;
  const values: Readonly<Record<string, string | boolean | undefined>> = parsed.values;
  if (values['help'] === true || positionals.length + Object.keys(values).length === 0) {
    console.log(usage());
    return 0;
  }
  const chosen = SUITES[positionals[0] ?? ''];
  const given = (name: string): number | undefined =>
    values[name] === undefined ? undefined : Number(values[name]);
  const count = given('count') ?? chosen?.count;
  const sizes = SIZES.flatMap((name) => given(name) ?? []);
  const queue = QUEUES.find((each) => each === (values['queue'] ?? 'postgres'));
  const wrong = [count, ...sizes].some((each) => !Number.isInteger(each) || each! < 1);
  const kill = EVENT_VICTIMS.find((each) => each === values['kill']);
  const attack = ATTACKS.find((each) => each === values['attack']);
  const unknown =
    (values['kill'] !== undefined && kill === undefined) ||
    (values['attack'] !== undefined && attack === undefined);
  if (chosen === undefined || count === undefined || wrong || queue === undefined || unknown) {
    console.error(usage());
    return 2;
  }
  const say = (line: string): void => console.log(line);
  const verdict = new Verdict(say);
  const began = performance.now();
  say(`${positionals[0]}: ${count} ${chosen.of}`);
  try {
    const entries = SIZES.flatMap((name) =>
      given(name) === undefined ? [] : [[name, given(name)] as const],
    );
    const sized = Object.fromEntries(entries);
    const picked = { ...(kill === undefined ? {} : { kill }), ...(attack === undefined ? {} : { attack }) };
    await chosen.suite({ count, verdict, say, queue, sizes: sized, ...picked });
  } catch (error) {
    verdict.expect(false, 'the suite came to its end', (error as Error).stack ?? String(error));
  }
  say(`${positionals[0]}: ${verdict.summary()} (${seconds(performance.now() - began)})`);
  return verdict.broken.length === 0 ? 0 : 1;
}

function usage(): string {
  const suites = Object.entries(SUITES).map(
    ([name, { count, of, promise }]) => `  ${name.padEnd(15)} ${promise}\n${' '.repeat(18)}${count} ${of}`,
  );
  const sizes = SIZES.map((name) => `[--${name} N]`).join(' ');
  return `npm run chaos -- <suite> [--count N]: each suite with its promise, and the count unless --count is given

${suites.join('\n')}

sizes that some take: ${sizes}
deliveries and fairness take more: [--queue postgres|redis]
events takes more: [--kill ${EVENT_VICTIMS.join('|')}]
slow-readers takes more: [--attack ${ATTACKS.join('|')}]`;
}

process.exitCode = await main();

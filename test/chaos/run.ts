import { parseArgs } from 'node:util';
import { deliveries } from './suites/deliveries.js';
import { events } from './suites/events.js';
import { failpoints } from './suites/failpoints.js';
import { fairness } from './suites/fairness.js';
import { fuzz } from './suites/fuzz.js';
import { giantReceipts } from './suites/giant-receipts.js';
import { hostile } from './suites/hostile.js';
import { keys } from './suites/keys.js';
import { killApp } from './suites/kill-app.js';
import { killBoth } from './suites/kill-both.js';
import { killPostgres } from './suites/kill-postgres.js';
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

const SUITES: Readonly<
  Record<string, { readonly suite: Suite; readonly count: number; readonly of: string }>
> = {
  repeats: { suite: repeats, count: 12, of: 'rounds' },
  failpoints: { suite: failpoints, count: 2, of: 'turns over all points' },
  'kill-app': { suite: killApp, count: 100, of: 'kills' },
  'kill-postgres': { suite: killPostgres, count: 100, of: 'kills' },
  'kill-both': { suite: killBoth, count: 30, of: 'kills' },
  sigterm: { suite: sigterm, count: 20, of: 'terminations' },
  races: { suite: races, count: 5, of: 'rounds' },
  deliveries: { suite: deliveries, count: 100, of: 'kills' },
  fairness: { suite: fairness, count: 1, of: 'rounds' },
  events: { suite: events, count: 100, of: 'kills between 202 and processing' },
  'order-races': { suite: orderRaces, count: 10_000, of: 'interleavings' },
  orders: { suite: orders, count: 100, of: 'kills' },
  onboarding: { suite: onboarding, count: 100, of: 'kills' },
  fuzz: { suite: fuzz, count: 100_000, of: 'requests' },
  'giant-receipts': { suite: giantReceipts, count: 3, of: 'rounds' },
  'lying-node': { suite: lyingNode, count: 10, of: 'rounds' },
  'skewed-clock': { suite: skewedClock, count: 6, of: 'rounds' },
  reorganisations: { suite: reorganisations, count: 1000, of: 'reorganisations' },
  standstill: { suite: standstill, count: 40, of: 'processes that stand still' },
  keys: { suite: keys, count: 5, of: 'rotations' },
  'two-versions': { suite: twoVersions, count: 5, of: 'rounds' },
  'ordinary-life': { suite: ordinaryLife, count: 1000, of: 'runs' },
  tamperings: { suite: tamperings, count: 10_000, of: 'tamperings' },
  hostile: { suite: hostile, count: 3, of: 'times 100 at once' },
  'slow-readers': { suite: slowReaders, count: 1, of: 'turns over all attacks' },
};

const QUEUES = ['postgres', 'redis'] as const;

/** `npm run chaos -- <suite> [--count N]`: 0 when every fact held, 1 when one was broken, 2 for a wrong call. */
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
  if (values['help'] === true) {
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
    ([name, { count, of }]) => `  ${name.padEnd(15)} ${count} ${of} unless told otherwise`,
  );
  const sizes = SIZES.map((name) => `[--${name} N]`).join(' ');
  return `npm run chaos -- <suite> [--count N]\n\n${suites.join('\n')}

sizes that some take: ${sizes}
deliveries and fairness take more: [--queue postgres|redis]
events takes more: [--kill ${EVENT_VICTIMS.join('|')}]
slow-readers takes more: [--attack ${ATTACKS.join('|')}]`;
}

process.exitCode = await main();

import { Random } from '../support/random.js';
import { Shared } from '../support/shared.js';
import { chooseSeed, seconds, type Suite } from '../support/suite.js';
import { deliveries, logins, responses } from '../support/tamperings/row-rounds.js';
import { ledgerTables, tables } from '../support/tamperings/table-rounds.js';
import { changedEvents, insertedEvents } from '../support/tamperings/event-rounds.js';
import { TamperingHarness, type Group } from '../support/tamperings/tampering-harness.js';
import { wholeLog } from '../support/tamperings/whole-log-rounds.js';
import { Tally } from '../support/verdict.js';

const GROUPS: Readonly<Record<string, Group>> = {
  changedEvents,
  insertedEvents,
  tables,
  logins,
  wholeLog,
  responses,
  deliveries,
  ledgerTables,
};
const REPORTED_EVERY_MS = 30_000;

/**
 * Tampers `--count` times with full rights to the database but no master key. The service, its follower,
 * signer and workers run meanwhile. `--seed` determines all of it.
 */
export const tamperings: Suite = async (options) => {
  const { count, verdict, say } = options;
  const seed = chooseSeed(options);
  const tally = new Tally();
  const spent = new Tally();
  await Shared.run(async (shared) => {
    const harness = await TamperingHarness.start(shared, verdict);
    say(`log    ${(await harness.events()).length} events`);
    await harness.untouched();
    const left = new Map(
      Object.entries(GROUPS).map(([name, { percent }]) => [name, Math.ceil((count * percent) / 100)]),
    );
    let reportedAt = performance.now();
    let round = 0;
    while ([...left.values()].some((each) => each > 0)) {
      for (const [name, group] of Object.entries(GROUPS)) {
        // The groups keep their proportions until the end.
        const rest = left.get(name)!;
        if (rest === 0) continue;
        const began = performance.now();
        const done = await group.run(harness, new Random(seed, round++), Math.min(rest, group.atOnce));
        left.set(name, rest - done.length);
        for (const each of done) tally.add(`${name}: ${each}`);
        if (group.stops) await harness.works();
        spent.add(name, Math.round(performance.now() - began));
      }
      await harness.untouched();
      if (performance.now() - reportedAt < REPORTED_EVERY_MS) continue;
      reportedAt = performance.now();
      say(`${[...left].map(([name, rest]) => `${name} ${rest}`).join(', ')} left`);
    }
    for (const name of Object.keys(GROUPS)) {
      const kinds = tally.names().filter((each) => each.startsWith(`${name}: `));
      const sum = kinds.reduce((total, each) => total + tally.of(each), 0);
      const each = kinds.map((kind) => `${kind.slice(name.length + 2)} ${tally.of(kind)}`).sort();
      say(`${name} ${sum} in ${seconds(spent.of(name))}: ${each.join(', ')}`);
    }
  });
};

import { parseArgs } from 'node:util';
import { failpoints } from './suites/failpoints.js';
import { killApp } from './suites/kill-app.js';
import { killBoth } from './suites/kill-both.js';
import { killPostgres } from './suites/kill-postgres.js';
import { races } from './suites/races.js';
import { repeats } from './suites/repeats.js';
import { sigterm } from './suites/sigterm.js';
import { seconds, type Suite } from './support/suite.js';
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
};

/** `npm run chaos -- <suite> [--count N]`: 0 when every fact held, 1 when one was broken, 2 for a wrong call. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { count: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    console.log(`npm run chaos -- <suite> [--count N]\n\n${usage()}`);
    return 0;
  }
  const chosen = SUITES[positionals[0] ?? ''];
  const count = Number(values.count ?? chosen?.count);
  if (chosen === undefined || !Number.isInteger(count) || count < 1) {
    console.error(`npm run chaos -- <suite> [--count N]\n\n${usage()}`);
    return 2;
  }
  const say = (line: string): void => console.log(line);
  const verdict = new Verdict(say);
  const began = performance.now();
  say(`${positionals[0]}: ${count} ${chosen.of}`);
  try {
    await chosen.suite({ count, verdict, say });
  } catch (error) {
    verdict.expect(false, 'the suite came to its end', (error as Error).stack ?? String(error));
  }
  say(`${positionals[0]}: ${verdict.summary()} (${seconds(performance.now() - began)})`);
  return verdict.broken.length === 0 ? 0 : 1;
}

function usage(): string {
  return Object.entries(SUITES)
    .map(([name, { count, of }]) => `  ${name.padEnd(14)} ${count} ${of} unless told otherwise`)
    .join('\n');
}

process.exitCode = await main();

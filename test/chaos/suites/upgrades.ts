import { setTimeout as sleep } from 'node:timers/promises';
import type { ReportLoad } from '../support/report-load.js';
import { Shared } from '../support/shared.js';
import { stormEnv, underLoad } from '../support/storm.js';
import { percentile, seconds, type Suite, type SuiteOptions } from '../support/suite.js';
import { Deployment, type Release, buildRelease, newestTag } from '../support/upgrades/deployment.js';

const CLIENT_PAUSE_MS = 400;
const STEADY_MS = 30_000;
/** The bound of the p99 during replacements, as a multiple of the earlier p99. */
const P99_TIMES = 1.5;
/** The only results of clients, which repeat a 503 under its key. */
const RESULTS = ['report 201', 'report 503'];

/**
 * Upgrades from the previous release to this one and back, `count` times each, under load. Processes are
 * replaced one after the other in the order of docs/upgrading.md.
 */
export const upgrades: Suite = async (options) => {
  const { count, from = newestTag(), say, verdict } = options;
  await Shared.run(async (shared) => {
    const main = buildRelease(from, shared.environment.folder('release'));
    const before: Release = { name: 'before', main };
    const after: Release = { name: 'after' };
    say(`from ${from} to this version and back`);
    const deployment = await Deployment.start(shared, stormEnv(options), [before, after], verdict);
    const { port, merchant } = deployment;
    const replace = (former: Release, next: Release) => () => deployment.replace(former, next);
    const load = await underLoad(shared, { port, merchant }, options, CLIENT_PAUSE_MS, async (started) => {
      await sleep(STEADY_MS);
      for (let round = 1; round <= count; round += 1) {
        await replaced(`${round}  ${from} to this version`, started, replace(before, after), options);
        await replaced(`${round}  back to ${from}`, started, replace(after, before), options);
      }
    });
    const results = load.tally.names();
    verdict.none('a request failed otherwise than by a 503', results, (name) => !RESULTS.includes(name));
    await deployment.end(before);
  });
};

/** Replaces all processes and compares response times with those before. */
async function replaced(
  what: string,
  load: ReportLoad,
  replace: () => Promise<void>,
  { say, verdict, sizes = {} }: SuiteOptions,
): Promise<void> {
  await sleep(STEADY_MS);
  const began = performance.now();
  await replace();
  const ended = performance.now();
  await load.acknowledgesAll(ended);
  const steady = p99(load, began - STEADY_MS, began);
  const meanwhile = p99(load, began, ended);
  const times = meanwhile / steady;
  const maxTimes = sizes['p99-times'] ?? P99_TIMES;
  verdict.expect(
    times > 0 && times < maxTimes,
    `${what}: p99 within ${maxTimes} times that of a quiet deployment`,
    times.toFixed(2),
  );
  say(
    `${what}: ${seconds(ended - began)}, p99 ${meanwhile.toFixed(0)} ms, before it ${steady.toFixed(0)} ms (${times.toFixed(2)} times); tries ${load.tally.toString()}`,
  );
}

/** Returns the p99 in milliseconds until the 201, including repeats. */
function p99(load: ReportLoad, from: number, until: number): number {
  const begun = load.acknowledged.filter(({ beganAt }) => beganAt >= from && beganAt < until);
  const took = begun.map(({ beganAt, confirmedAt }) => confirmedAt - beganAt);
  return percentile(took, 0.99);
}

import { until } from '../../../sandbox/processes.js';
import { victimOf } from '../support/postgres-victim.js';
import { storm } from '../support/storm.js';
import { percentile, seconds, type Suite } from '../support/suite.js';

const RECOVERY_MS = 60_000;

/**
 * `kill -9` of PostgreSQL under load, over and over: the whole server or one backend. The service process survives,
 * starts the server again, and goes on by itself.
 */
export const killPostgres: Suite = async (options) => {
  const recoveries: number[] = [];
  await storm(options, async (sandbox, load) => {
    const { pid, name } = victimOf(sandbox);
    const began = performance.now();
    process.kill(pid, 'SIGKILL');
    const back = await until(
      () => sandbox.exited() !== null || load.acknowledgedBegunAfter(began),
      RECOVERY_MS,
    );
    const took = performance.now() - began;
    recoveries.push(took);
    options.verdict.equal(sandbox.exited(), null, 'the service survives');
    if (sandbox.exited() !== null)
      throw new Error(`the service ended with its PostgreSQL:\n${sandbox.lastWords()}`);
    options.verdict.expect(back, `reports are acknowledged again within ${seconds(RECOVERY_MS)}`);
    return `${name} killed; a report begun later was acknowledged after ${seconds(took)}`;
  });
  options.say(
    `recovery median ${seconds(percentile(recoveries, 0.5))}, longest ${seconds(Math.max(...recoveries))}`,
  );
};

import { until } from '../../../src/platform/sandbox/processes.js';
import { childrenOf, type Sandbox } from '../support/sandbox.js';
import { storm } from '../support/storm.js';
import { oneOf, percentile, seconds, type Suite } from '../support/suite.js';

/** One blow in so many hits a single backend; PostgreSQL then throws out all others and recovers by itself. */
const BACKEND_SHARE = 0.4;
const RECOVERY_MS = 60_000;

/**
 * `kill -9` of PostgreSQL under load, over and over: the whole server or one backend. The service process survives,
 * starts the server again, and goes on by itself.
 */
export const killPostgres: Suite = async (options) => {
  const recoveries: number[] = [];
  await storm(options, async (sandbox, load) => {
    const { victim, name } = choose(sandbox);
    const began = performance.now();
    process.kill(victim, 'SIGKILL');
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

function choose(sandbox: Sandbox): { victim: number; name: string } {
  const { postmaster } = sandbox;
  if (postmaster === null) throw new Error('there is no PostgreSQL to kill');
  const backends = childrenOf(postmaster).filter(({ command }) => / disburse .*127\.0\.0\.1/.test(command));
  if (backends.length > 0 && Math.random() < BACKEND_SHARE)
    return { victim: oneOf(backends).pid, name: 'a backend' };
  return { victim: postmaster, name: 'the server ' };
}

import { until } from '../../../sandbox/processes.js';
import { restart, type Sandbox } from '../support/sandbox.js';
import { storm } from '../support/storm.js';
import { percentile, seconds, type Suite } from '../support/suite.js';

/** One kill in so many hits a service that is still starting. */
const DURING_START = 0.15;
const RECOVERY_MS = 60_000;

/** `kill -9` of the service process under load; each start adopts the PostgreSQL and the chain that it finds. */
export const killApp: Suite = (options) =>
  storm(options, async (sandbox) => {
    const before = serversOf(sandbox);
    await sandbox.kill();
    const began = performance.now();
    const isKilledTwice = await restart(sandbox, DURING_START);
    const took = seconds(performance.now() - began);
    options.verdict.equal(serversOf(sandbox), before, 'the servers of the killed service are adopted');
    return `killed${isKilledTwice ? ', and again while starting' : ''}; ready after ${took}`;
  });

/** `kill -9` of the PostgreSQL server or of one backend under load: the service survives and starts it again. */
export const killPostgres: Suite = async (options) => {
  const recoveries: number[] = [];
  await storm(options, async (sandbox, load) => {
    const { pid, name } = sandbox.postgresVictim();
    const began = performance.now();
    process.kill(pid, 'SIGKILL');
    // Backends of a killed server may still acknowledge: it recovered once another server runs.
    const isServed = (): boolean => ![null, pid].includes(sandbox.postmaster);
    const recovered = await until(
      () => sandbox.exited() !== null || (isServed() && load.acknowledgedBegunAfter(began)),
      RECOVERY_MS,
    );
    const took = performance.now() - began;
    recoveries.push(took);
    options.verdict.equal(sandbox.exited(), null, 'the service survives');
    if (sandbox.exited() !== null)
      throw new Error(`the service ended with its PostgreSQL:\n${sandbox.lastWords()}`);
    options.verdict.expect(recovered, `reports are acknowledged again within ${seconds(RECOVERY_MS)}`);
    return `${name} killed; a report begun later was acknowledged after ${seconds(took)}`;
  });
  options.say(
    `recovery median ${seconds(percentile(recoveries, 0.5))}, longest ${seconds(Math.max(...recoveries))}`,
  );
};

/** `kill -9` of the service and its PostgreSQL in the same instant, as when a machine loses its memory. */
export const killBoth: Suite = (options) =>
  storm(options, async (sandbox) => {
    const { postmaster } = sandbox;
    if (postmaster !== null) process.kill(postmaster, 'SIGKILL');
    await sandbox.kill();
    const began = performance.now();
    await restart(sandbox, 0);
    options.verdict.expect(sandbox.postmaster !== postmaster, 'another PostgreSQL replaces the killed one');
    return `both killed; ready after ${seconds(performance.now() - began)}`;
  });

/** The postmaster and the chain, by pid. */
function serversOf(sandbox: Sandbox): string {
  const anvils = sandbox.parts().filter(({ command }) => command.includes('anvil'));
  return `PostgreSQL ${String(sandbox.postmaster)}, anvil ${anvils.map(({ pid }) => pid).join()}`;
}

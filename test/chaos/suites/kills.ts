import { until } from '../../../sandbox/processes.js';
import { storm } from '../support/storm.js';
import { seconds, type Suite } from '../support/suite.js';

/** The share of kills that hit a starting service. */
const DURING_START = 0.15;
const RECOVERY_MS = 60_000;

export const killApp: Suite = (options) =>
  storm(options, async ({ service }) => {
    await service.kill();
    const began = performance.now();
    const isKilledTwice = await service.restart(DURING_START);
    const took = seconds(performance.now() - began);
    return `killed${isKilledTwice ? ', and again while starting' : ''}; ready after ${took}`;
  });

/** Kills the PostgreSQL server or one backend with `kill -9` under load. The service continues. */
export const killPostgres: Suite = (options) =>
  storm(options, async ({ shared, service, load }) => {
    const name = await shared.killPostgres();
    const began = performance.now();
    const recovered = await until(
      () => service.exited() !== null || load.acknowledgedBegunAfter(began),
      RECOVERY_MS,
    );
    const took = performance.now() - began;
    options.verdict.equal(service.exited(), null, 'the service survives');
    if (service.exited() !== null)
      throw new Error(`the service ended with its PostgreSQL:\n${service.lastWords()}`);
    options.verdict.expect(recovered, `reports are acknowledged again within ${seconds(RECOVERY_MS)}`);
    return `${name} killed; a report begun later was acknowledged after ${seconds(took)}`;
  });

/** Kills the service and PostgreSQL with `kill -9` at once, like a power failure. */
export const killBoth: Suite = (options) =>
  storm(options, async ({ shared: { environment }, service }) => {
    process.kill(environment.postmaster, 'SIGKILL');
    await service.kill();
    const began = performance.now();
    await environment.restartPostgres();
    await service.restart();
    return `both killed; ready after ${seconds(performance.now() - began)}`;
  });

import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../support/sandbox.js';
import { storm } from '../support/storm.js';
import { between, seconds, type Suite } from '../support/suite.js';

/** One kill in so many hits a service that has only begun to start. */
const DURING_START = 0.15;

/** `kill -9` of the service process under load, over and over; each start adopts the PostgreSQL and the chain it finds. */
export const killApp: Suite = (options) => {
  return storm(options, async (sandbox) => {
    const before = serversOf(sandbox);
    await sandbox.kill();
    const early = Math.random() < DURING_START;
    const began = performance.now();
    sandbox.spawn();
    if (early) {
      await sleep(between(50, 1500));
      await sandbox.kill();
      sandbox.spawn();
    }
    await sandbox.ready();
    const took = seconds(performance.now() - began);
    options.verdict.equal(serversOf(sandbox), before, 'the servers that the killed service left are adopted');
    return `killed${early ? ', and again while starting' : ''}; ready after ${took}`;
  });
};

/** The postmaster and the chain, by pid. */
function serversOf(sandbox: Sandbox): string {
  const anvils = sandbox.parts().filter(({ command }) => command.includes('anvil'));
  return `PostgreSQL ${String(sandbox.postmaster)}, anvil ${anvils.map(({ pid }) => pid).join()}`;
}

import { storm } from '../support/storm.js';
import { seconds, type Suite } from '../support/suite.js';

/** `kill -9` of the service and of its PostgreSQL in the same instant, as when a machine loses its memory. */
export const killBoth: Suite = (options) => {
  return storm(options, async (sandbox) => {
    const { postmaster } = sandbox;
    if (postmaster !== null) process.kill(postmaster, 'SIGKILL');
    await sandbox.kill();
    const began = performance.now();
    sandbox.spawn();
    await sandbox.ready();
    options.verdict.expect(
      sandbox.postmaster !== postmaster,
      'another PostgreSQL took the place of the killed one',
    );
    return `both killed; ready after ${seconds(performance.now() - began)}`;
  });
};

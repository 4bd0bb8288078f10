import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { TestBrowser } from '../http/browser.js';
import { eventually } from '../eventually.js';
import { specFolder } from '../run-folder.js';
import { descendantsOf, processesIn } from '../jest/test-run.mjs';
import { FREE_PORTS } from '../free-ports.js';

// Started by leftovers.extended.spec.ts. Each test fails and cleans nothing up. The starts are recorded.
const started = process.env['PLANTED']!;

const KINDS: Readonly<Record<string, () => Promise<unknown>>> = {
  'a browser': () => new TestBrowser().start(),
  // The process inherits the standard error of Jest.
  'a process': async () => spawn('sleep', ['600'], { stdio: 'inherit' }),
  'a process in its own session with a child': async () => {
    spawn('sh', ['-c', 'sleep 600 & sleep 600'], { stdio: 'inherit', detached: true });
    await eventually(() => descendantsOf([process.pid]).length >= 3);
  },
  // It starts a PostgreSQL and a chain, like in suites.
  'the service with its servers': async () => {
    const dir = specFolder('service');
    spawn(process.execPath, ['dist/main.js'], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        MODE: 'sandbox',
        DATA_DIR: dir,
        LOG_LEVEL: 'silent',
        NODE_OPTIONS: '',
        ...FREE_PORTS,
      },
    });
    await eventually(() => processesIn(dir).length >= 2);
  },
};

it.each(Object.entries(KINDS))('leaves %s', async (kind, start) => {
  await start();
  const pids = [...descendantsOf([process.pid]), ...processesIn(process.env['DISBURSE_TEST_SUITE']!)];
  writeFileSync(join(started, kind), JSON.stringify(pids.filter((pid) => pid !== process.pid)));
  expect(kind).toBe('cleaned up');
});

it('leaves an orphan that holds the standard error', () => {
  const child = spawn('sh', ['-c', 'sleep 600 & echo $!'], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise<void>((resolve, reject) => {
    child.stdout.once('data', (pid: Buffer) => {
      writeFileSync(join(started, 'an orphan'), `[${Number(pid.toString())}]`);
      child.stdout.destroy();
      resolve();
    });
    child.once('error', reject);
  });
});

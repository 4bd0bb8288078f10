import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { isAlive } from '../../sandbox/processes.js';
import { TestProcess } from './programs/test-process.js';
import { specFolder } from './run-folder.js';

/** The planted suite boots a sandbox and a browser. */
const RUN_MS = 240_000;
const pidsIn = (folder: string): [string, number[]][] =>
  readdirSync(folder).map((kind) => [kind, JSON.parse(readFileSync(join(folder, kind), 'utf8')) as number[]]);

let folder: string;
afterAll(() => {
  for (const pid of pidsIn(folder).flatMap(([, pids]) => pids))
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
});

it(
  'all processes that a failing suite started end with it, even if an orphan holds open streams',
  async () => {
    folder = specFolder('planted');
    const args = ['--maxWorkers=1', '--testMatch', '**/*.planted.ts'];
    const env: NodeJS.ProcessEnv = { ...process.env, PLANTED: folder, NODE_OPTIONS: '', FORCE_COLOR: '0' };
    for (const name of Object.keys(env)) if (/^(DISBURSE_TEST|JEST)_/.test(name)) delete env[name];
    const run = new TestProcess(process.execPath, ['scripts/test.mjs', ...args], { env });
    // No process uses its streams any more.
    const code = await run.ended;
    const alive = pidsIn(folder).filter(([, pids]) => pids.some(isAlive));
    expect({ text: run.text, code, alive: alive.map(([kind]) => kind) }).toEqual({
      text: expect.stringContaining('1 passed, 4 failed'),
      code: 1,
      alive: [],
    });
    expect(readdirSync(folder)).toHaveLength(5);
  },
  RUN_MS,
);

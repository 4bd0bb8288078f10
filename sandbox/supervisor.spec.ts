import { spawn } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { eventually } from '../test/support/eventually.js';
import { isAlive } from './processes.js';
import { Supervisor, type Server } from './supervisor.js';

it('a server of the sandbox that was killed is started again, until the sandbox stops', async () => {
  const said: string[] = [];
  const supervisor = new Supervisor((message) => said.push(message));
  const start = (): Server => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)']);
    return { pid: child.pid!, port: 1, stop: async () => void child.kill('SIGKILL') };
  };
  const first = start();
  const server = supervisor.watch('PostgreSQL', first, async () => start());
  process.kill(first.pid, 'SIGKILL');
  await eventually(() => server().pid !== first.pid);
  expect(isAlive(server().pid)).toBe(true);
  expect(said).toEqual(['PostgreSQL has stopped; starting it again']);
  await supervisor.stop();
  const last = server().pid;
  await server().stop();
  await eventually(() => !isAlive(last));
  expect(server().pid).toBe(last);
});

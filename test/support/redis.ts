import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createConnection } from 'node:net';
import { freePort, startDaemon, stopProcess, until } from '../../src/platform/sandbox/processes.js';
import { oncePerRun, specFolder } from './run-folder.js';

export interface TestRedis {
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * A Redis of one's own (Debian's redis-server) with nothing in it. It is installed when it is missing and this is
 * root on Debian; null when there is none and it cannot be had: such a spec says so and is left out.
 */
export async function startRedis(): Promise<TestRedis | null> {
  const { path } = await oncePerRun('redis-server', async () => ({ path: findRedis() ?? installRedis() }));
  if (path === null) return null;
  const dir = specFolder('redis');
  const port = await freePort();
  const daemon = startDaemon({
    command: path,
    args: [
      '--bind',
      '127.0.0.1',
      '--port',
      String(port),
      '--dir',
      dir,
      '--save',
      '',
      '--maxmemory-policy',
      'noeviction',
    ],
    cwd: dir,
    logFile: join(dir, 'redis.log'),
    env: { PATH: process.env['PATH'] },
  });
  const ready = await until(() => daemon.exited() !== null || pongs(port), 15_000);
  if (!ready || daemon.exited() !== null) throw new Error(`redis-server did not start: see ${dir}/redis.log`);
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: () =>
      stopProcess(daemon.pid, [
        ['SIGTERM', 5000],
        ['SIGKILL', 2000],
      ]),
  };
}

function findRedis(): string | null {
  const found = spawnSync('sh', ['-c', 'command -v redis-server'], { encoding: 'utf8' });
  return found.status === 0 ? found.stdout.trim() : null;
}

function installRedis(): string | null {
  if (process.getuid?.() !== 0 || spawnSync('sh', ['-c', 'command -v apt-get']).status !== 0) return null;
  const install = 'apt-get update -qq; apt-get install -y -qq --no-install-recommends redis-server';
  spawnSync('sh', ['-c', install], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 180_000,
  });
  return findRedis();
}

function pongs(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, () => end(false));
    socket.on('error', () => end(false));
    socket.on('data', (data) => end(data.toString().startsWith('+PONG')));
  });
}

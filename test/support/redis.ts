import { join } from 'node:path';
import { createConnection } from 'node:net';
import { freePort, startDaemon, stopProcess, until } from '../../sandbox/processes.js';
import { PATIENCE_MS } from './eventually.js';
import { specFolder } from './run-folder.js';
import { systemProgram } from './system-program.js';

export interface TestRedis {
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  stop(): Promise<void>;
}

/** A Redis of one's own with nothing in it; null where there is none and it cannot be had ({@link systemProgram}). */
export async function startRedis(): Promise<TestRedis | null> {
  const path = systemProgram('redis-server');
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
  const ready = await until(() => daemon.exited() !== null || pongs(port), PATIENCE_MS);
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

function pongs(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const end = (response: boolean): void => {
      socket.destroy();
      resolve(response);
    };
    socket.setTimeout(1000, () => end(false));
    socket.on('error', () => end(false));
    socket.on('data', (data) => end(data.toString().startsWith('+PONG')));
  });
}

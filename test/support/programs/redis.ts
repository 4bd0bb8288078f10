import { createConnection } from 'node:net';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, startDaemon, stopProcess, until, type Daemon } from '../../../sandbox/processes.js';
import { WAIT_MS } from '../eventually.js';
import { specFolder } from '../run-folder.js';
import { systemProgram } from './system-program.js';

/** A separate Redis without persistence, which loses everything when it is killed. */
export class TestRedis {
  private constructor(
    private readonly program: string,
    private readonly dir: string,
    private readonly port: number,
    private daemon: Daemon,
  ) {}

  /** Returns null if there is no Redis and none can be installed (`systemProgram`). */
  static async start(dir?: string): Promise<TestRedis | null> {
    const program = systemProgram('redis-server');
    if (program === null) return null;
    const folder = dir ?? specFolder('redis');
    mkdirSync(folder, { recursive: true });
    const port = await freePort();
    const redis = new TestRedis(program, folder, port, launch(program, folder, port));
    await redis.ready();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async flush(): Promise<void> {
    if (!(await responds(this.port, 'FLUSHALL', '+OK'))) throw new Error('redis-server did not flush');
  }

  /** Kills it with `kill -9`, and starts an empty one in its place after `outageMs`. */
  async replace(outageMs: number): Promise<void> {
    await this.kill();
    await sleep(outageMs);
    await this.restart();
  }

  get pid(): number {
    return this.daemon.pid;
  }

  async kill(): Promise<void> {
    process.kill(this.pid, 'SIGKILL');
    await until(() => this.daemon.exited() !== null, 10_000);
  }

  async restart(): Promise<void> {
    this.daemon = launch(this.program, this.dir, this.port);
    await this.ready();
  }

  stop(): Promise<void> {
    return stopProcess(this.daemon.pid, [
      ['SIGTERM', 5000],
      ['SIGKILL', 2000],
    ]);
  }

  private async ready(): Promise<void> {
    const isUp = (): Promise<boolean> => responds(this.port, 'PING', '+PONG');
    const settled = await until(async () => this.daemon.exited() !== null || (await isUp()), WAIT_MS);
    if (!settled || this.daemon.exited() !== null)
      throw new Error(`redis-server did not start: see ${this.dir}/redis.log`);
  }
}

function launch(program: string, dir: string, port: number): Daemon {
  const options = { port: String(port), bind: '127.0.0.1', dir, save: '', 'maxmemory-policy': 'noeviction' };
  return startDaemon({
    command: program,
    args: Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
    cwd: dir,
    logFile: join(dir, 'redis.log'),
    env: { PATH: process.env['PATH'] },
  });
}

function responds(port: number, command: string, response: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write(`${command}\r\n`));
    const end = (isExpected: boolean): void => {
      socket.destroy();
      resolve(isExpected);
    };
    socket.setTimeout(1000, () => end(false));
    socket.on('error', () => end(false));
    socket.on('data', (data) => end(data.toString().startsWith(response)));
  });
}

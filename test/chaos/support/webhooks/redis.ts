import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, startDaemon, stopProcess, until, type Daemon } from '../../../../sandbox/processes.js';

/** A redis-server of the run's own that keeps nothing on disk: killed, it has forgotten everything. */
export class ChaosRedis {
  private constructor(
    private readonly dir: string,
    private readonly port: number,
    private daemon: Daemon,
  ) {}

  static async start(dir: string): Promise<ChaosRedis> {
    if (spawnSync('sh', ['-c', 'command -v redis-server']).status !== 0)
      throw new Error('--queue redis needs redis-server on the PATH');
    mkdirSync(dir, { recursive: true });
    const port = await freePort();
    const redis = new ChaosRedis(dir, port, launch(dir, port));
    await redis.responds();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async flushAll(): Promise<void> {
    const client = new Redis(this.url, { lazyConnect: true });
    await client.connect();
    await client.flushall();
    await client.quit();
  }

  /** `kill -9`, a moment of silence, and an empty one in its place. */
  async replace(silenceMs: number): Promise<void> {
    process.kill(this.daemon.pid, 'SIGKILL');
    await until(() => this.daemon.exited() !== null, 10_000);
    await new Promise((resolve) => setTimeout(resolve, silenceMs));
    this.daemon = launch(this.dir, this.port);
    await this.responds();
  }

  stop(): Promise<void> {
    return stopProcess(this.daemon.pid, [['SIGKILL', 5000]]);
  }

  private async responds(): Promise<void> {
    const client = new Redis(this.url, { lazyConnect: true, retryStrategy: null });
    client.on('error', () => undefined);
    const up = await until(async () => {
      try {
        if (client.status !== 'ready') await client.connect();
        return (await client.ping()) === 'PONG';
      } catch {
        return false;
      }
    }, 15_000);
    client.disconnect();
    if (!up) throw new Error(`redis-server did not start: see ${this.dir}/redis.log`);
  }
}

function launch(dir: string, port: number): Daemon {
  return startDaemon({
    command: 'redis-server',
    args: ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, '--save', ''],
    cwd: dir,
    logFile: join(dir, 'redis.log'),
    env: { PATH: process.env['PATH'] },
  });
}

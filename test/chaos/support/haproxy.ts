import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startDaemon, stopProcess, until, type Daemon } from '../../../sandbox/processes.js';

export class Haproxy {
  private constructor(private readonly daemon: Daemon) {}

  static async start(dir: string, config: string, isUp: () => boolean | Promise<boolean>): Promise<Haproxy> {
    if (spawnSync('haproxy', ['-v']).status !== 0)
      throw new Error('haproxy is missing: install it (Debian: apt-get install haproxy)');
    const file = join(dir, 'haproxy.cfg');
    writeFileSync(file, config);
    const started = new Haproxy(
      startDaemon({
        command: 'haproxy',
        args: ['-db', '-f', file],
        cwd: dir,
        logFile: join(dir, 'haproxy.log'),
        env: { PATH: process.env['PATH'] },
      }),
    );
    if (await until(isUp, 10_000)) return started;
    const end = started.daemon.exited() ?? 'no response';
    await started.stop();
    throw new Error(`haproxy did not start (${end}): see ${dir}`);
  }

  async stop(): Promise<void> {
    await stopProcess(this.daemon.pid, [['SIGKILL', 5000]]);
  }
}

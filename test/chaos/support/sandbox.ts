import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Children, lastWords, ready, type Child } from '../../../bench/support/children.js';
import type { Credentials } from '../../../bench/support/sign.js';
import { POSTGRES_USER } from '../../../sandbox/postgres-cluster.js';
import { freePort, isAlive, until } from '../../../sandbox/processes.js';
import type { SandboxFile } from '../../../sandbox/announce.js';

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

export interface Process {
  readonly pid: number;
  readonly command: string;
}

/** The whole service on parts of its own, as `npm start` runs it: one process that looks after a PostgreSQL and a dev chain. */
export class Sandbox {
  readonly children = new Children();
  private child: Child | null = null;
  private connections: pg.Pool | null = null;

  private constructor(
    readonly dir: string,
    readonly port: number,
    /** What it was told besides its own. */
    readonly settings: Readonly<Record<string, string>>,
  ) {}

  static async create(env: Readonly<Record<string, string>> = {}): Promise<Sandbox> {
    const dir = mkdtempSync(join(process.env['DISBURSE_TEST_SUITE'] ?? tmpdir(), 'disburse-chaos-'));
    // PostgreSQL may run as another user, who has to pass through.
    chmodSync(dir, 0o711);
    return new Sandbox(dir, await freePort(), env);
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get file(): SandboxFile {
    return JSON.parse(readFileSync(join(this.dir, 'sandbox.json'), 'utf8')) as SandboxFile;
  }

  get merchant(): Credentials {
    const { merchant } = this.file;
    return { apiKey: merchant.api_key, privateKey: merchant.private_key };
  }

  /** Starts the process without waiting for it. */
  spawn(): void {
    this.child = this.children.start({
      name: 'service',
      args: [MAIN],
      dir: this.dir,
      env: {
        MODE: 'sandbox',
        DATA_DIR: this.dir,
        PORT: String(this.port),
        // Nobody asks for these: free ones at every start, so that no stranger's server stands in the way.
        WIDGET_PORT: '0',
        PAY_PORT: '0',
        METRICS_PORT: '0',
        RATE_LIMIT_PER_MINUTE: '10000000',
        RATE_LIMIT_PER_IP_PER_MINUTE: '100000000',
        LOG_FILE: join(this.dir, 'service.json.log'),
        ...this.settings,
      },
    });
  }

  /** Resolves when every dependency is there. Throws when the process ends first. */
  async ready(patienceMs = 180_000): Promise<void> {
    await ready(this.running, `${this.baseUrl}/health/ready`, patienceMs);
    // It listens first and writes down its merchants then.
    const told = await until(() => existsSync(join(this.dir, 'sandbox.json')), 10_000);
    if (!told) throw new Error('the sandbox wrote no sandbox.json');
  }

  /** `kill -9` of the service process alone; resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.running;
    process.kill(child.pid, 'SIGKILL');
    if (!(await until(() => child.exited() !== null, 10_000)))
      throw new Error('the service outlived SIGKILL');
  }

  /** How the service process ended; null while it runs. */
  exited(): string | null {
    return this.running.exited();
  }

  /** The end of what it wrote to standard output and error: why it ended, when it should not have. */
  lastWords(): string {
    return lastWords(this.running.log);
  }

  /** Asks it to stop, as Ctrl-C does, and waits. How it ended. */
  async stop(): Promise<string | null> {
    const child = this.running;
    await child.stop();
    return child.exited();
  }

  /** Connections of the run's own to the sandbox's database. */
  get pool(): pg.Pool {
    if (this.connections === null) {
      this.connections = new pg.Pool({ connectionString: this.databaseUrl, max: 3 });
      this.connections.on('error', () => undefined);
    }
    return this.connections;
  }

  get databaseUrl(): string {
    const secrets = JSON.parse(readFileSync(join(this.dir, 'secrets.json'), 'utf8')) as {
      postgres_password: string;
      postgres_port: number;
    };
    return `postgres://${POSTGRES_USER}:${secrets.postgres_password}@127.0.0.1:${secrets.postgres_port}/disburse`;
  }

  /** The PostgreSQL server, as `postmaster.pid` names it; null while there is none. */
  get postmaster(): number | null {
    const file = join(this.postgresDir, 'data', 'postmaster.pid');
    const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0;
    return isAlive(pid) ? pid : null;
  }

  /** Every living process that works in the sandbox's folders, the service itself left out. */
  parts(): Process[] {
    return processesIn([this.dir, this.postgresDir]);
  }

  /** Stops the service if it runs, kills whatever is left, removes the folders. */
  async remove(): Promise<void> {
    await this.connections?.end();
    await this.children.stopAll();
    for (const { pid } of this.parts()) process.kill(pid, 'SIGKILL');
    await until(() => this.parts().length === 0, 10_000);
    rmSync(this.postgresDir, { recursive: true, force: true });
    rmSync(this.dir, { recursive: true, force: true });
  }

  private get running(): Child {
    if (this.child === null) throw new Error('the service was not started');
    return this.child;
  }

  private get postgresDir(): string {
    const elsewhere = join(this.dir, 'postgres.location');
    return existsSync(elsewhere) ? readFileSync(elsewhere, 'utf8').trim() : join(this.dir, 'postgres');
  }
}

/** Children of a process, such as the backends of a PostgreSQL server. */
export function childrenOf(pid: number): Process[] {
  return allProcesses().filter((each) => parentOf(each.pid) === pid);
}

function processesIn(folders: readonly string[]): Process[] {
  return allProcesses().filter(({ pid }) => {
    try {
      const cwd = readlinkSync(`/proc/${pid}/cwd`);
      return folders.some((folder) => cwd === folder || cwd.startsWith(`${folder}/`));
    } catch {
      return false;
    }
  });
}

function allProcesses(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map((name) => ({ pid: Number(name), command: commandOf(name) }))
    .filter(({ pid, command }) => command !== '' && isAlive(pid));
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}

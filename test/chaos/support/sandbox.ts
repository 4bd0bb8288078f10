import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Children } from '../../../bench/support/children.js';
import { credentials, spawnService, type ServiceOptions } from '../../../bench/support/service.js';
import type { Credentials } from '../../../bench/support/sign.js';
import type { SandboxFile } from '../../../sandbox/announce.js';
import { POSTGRES_USER } from '../../../sandbox/postgres-cluster.js';
import { freePort, isAlive, until } from '../../../sandbox/processes.js';
import { ServiceProcess } from './service-process.js';
import { between, oneOf } from './suite.js';

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
/** One kill in so many hits a single backend; PostgreSQL then ends all others and recovers. */
const BACKEND_SHARE = 0.4;

export interface Process {
  readonly pid: number;
  readonly command: string;
}

interface Secrets {
  readonly postgres_password: string;
  readonly postgres_port: number;
  readonly master_key: string;
}

/** The whole service with its own parts, as `npm start` runs it: one process that runs a PostgreSQL and a dev chain. */
export class Sandbox extends ServiceProcess {
  private connections: pg.Pool | null = null;

  private constructor(
    readonly root: string,
    port: number,
    private readonly settings: Readonly<Record<string, string>>,
    private readonly children: Children,
  ) {
    super('the service', async (more) => {
      const env = {
        MODE: 'sandbox',
        DATA_DIR: root,
        PORT: String(port),
        // Free ports at every start.
        WIDGET_PORT: '0',
        PAY_PORT: '0',
        METRICS_PORT: '0',
        RATE_LIMIT_PER_MINUTE: '10000000',
        RATE_LIMIT_PER_IP_PER_MINUTE: '100000000',
        LOG_FILE: join(root, 'service.json.log'),
        ...settings,
        ...more,
      };
      const child = children.start({ name: 'service', args: [MAIN], dir: root, env });
      return { child, dir: root, port, widgetPort: 0, readyUrl: `http://127.0.0.1:${port}/health/ready` };
    });
  }

  static async create(settings: Readonly<Record<string, string>> = {}): Promise<Sandbox> {
    const root = mkdtempSync(join(process.env['DISBURSE_TEST_SUITE'] ?? tmpdir(), 'disburse-chaos-'));
    // PostgreSQL may run as another user, who has to pass through.
    chmodSync(root, 0o711);
    return new Sandbox(root, await freePort(), settings, new Children());
  }

  override async ready(): Promise<void> {
    await super.ready();
    // It listens first, and writes its merchants then.
    const written = await until(() => existsSync(join(this.root, 'sandbox.json')), 10_000);
    if (!written) throw new Error('the sandbox wrote no sandbox.json');
  }

  /** Another process on the same database and chain, not started yet. */
  companion(name: string, env: Readonly<Record<string, string>>, main?: string): ServiceProcess {
    const { rpc_url: rpcUrl, usdc_address: usdcAddress } = this.file.chain;
    const host = {
      children: this.children,
      folder: (folder: string) => join(this.root, folder),
      chain: async () => ({ rpcUrl, usdcAddress }),
      database: async () => this.databaseUrl,
    };
    const options: ServiceOptions = {
      name,
      env: { MASTER_KEY: this.secrets.master_key, ...this.settings, ...env },
      ...(main === undefined ? {} : { main }),
    };
    return new ServiceProcess(name, (more) =>
      spawnService(host, { ...options, env: { ...options.env, ...more } }),
    );
  }

  get file(): SandboxFile {
    return JSON.parse(readFileSync(join(this.root, 'sandbox.json'), 'utf8')) as SandboxFile;
  }

  get merchant(): Credentials {
    return credentials(this.file.merchant);
  }

  /** The run's own connections to the database. */
  get pool(): pg.Pool {
    if (this.connections === null) {
      this.connections = new pg.Pool({ connectionString: this.databaseUrl, max: 3 });
      this.connections.on('error', () => undefined);
    }
    return this.connections;
  }

  get databaseUrl(): string {
    const { postgres_password: password, postgres_port: port } = this.secrets;
    return `postgres://${POSTGRES_USER}:${password}@127.0.0.1:${port}/disburse`;
  }

  /** The PostgreSQL server, as `postmaster.pid` names it; null while there is none. */
  get postmaster(): number | null {
    const file = join(this.postgresDir, 'data', 'postmaster.pid');
    const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0;
    return isAlive(pid) ? pid : null;
  }

  /** Which process of PostgreSQL to kill: the server, or a backend of the service. */
  postgresVictim(): { readonly pid: number; readonly name: string } {
    const { postmaster } = this;
    if (postmaster === null) throw new Error('there is no PostgreSQL to kill');
    const backends = allProcesses().filter(
      ({ pid, command }) => parentOf(pid) === postmaster && / disburse .*127\.0\.0\.1/.test(command),
    );
    if (backends.length > 0 && Math.random() < BACKEND_SHARE)
      return { pid: oneOf(backends).pid, name: 'a backend' };
    return { pid: postmaster, name: 'the server' };
  }

  /** Every living process that works in the sandbox's folders, the service itself excluded. */
  parts(): Process[] {
    const folders = [this.root, this.postgresDir];
    return allProcesses().filter(({ pid }) => {
      try {
        const cwd = readlinkSync(`/proc/${pid}/cwd`);
        return folders.some((folder) => cwd === folder || cwd.startsWith(`${folder}/`));
      } catch {
        return false;
      }
    });
  }

  /** Stops the service if it runs, kills what is left, removes the folders. */
  async remove(): Promise<void> {
    await this.connections?.end();
    await this.children.stopAll();
    for (const { pid } of this.parts()) process.kill(pid, 'SIGKILL');
    await until(() => this.parts().length === 0, 10_000);
    rmSync(this.postgresDir, { recursive: true, force: true });
    rmSync(this.root, { recursive: true, force: true });
  }

  private get secrets(): Secrets {
    return JSON.parse(readFileSync(join(this.root, 'secrets.json'), 'utf8')) as Secrets;
  }

  private get postgresDir(): string {
    const elsewhere = join(this.root, 'postgres.location');
    return existsSync(elsewhere) ? readFileSync(elsewhere, 'utf8').trim() : join(this.root, 'postgres');
  }
}

/** Starts a killed service again; sometimes it is killed again while it starts. Whether it was. */
export async function restart(service: Sandbox, killShare: number): Promise<boolean> {
  await service.spawn();
  const isKilled = Math.random() < killShare;
  if (isKilled) {
    await sleep(between(50, 1500));
    await service.kill();
    await service.spawn();
  }
  await service.ready();
  return isKilled;
}

function allProcesses(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map((name) => ({ pid: Number(name), command: readProc(name, 'cmdline').replaceAll('\0', ' ').trim() }))
    .filter(({ pid, command }) => command !== '' && isAlive(pid));
}

function parentOf(pid: number): number {
  const stat = readProc(String(pid), 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

/** A file of a process; empty once the process has ended. */
function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

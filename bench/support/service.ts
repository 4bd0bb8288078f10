import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SandboxFile } from '../../sandbox/announce.js';
import { freePort, until } from '../../sandbox/processes.js';
import { SignedClient, type Credentials } from '../../test/support/http/signed-client.js';
import { lastWords, ready, type Child } from './children.js';
import type { BenchEnvironment } from './environment.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const PORTS = ['PORT', 'WIDGET_PORT', 'PAY_PORT', 'ADMIN_PORT', 'PORTAL_PORT', 'METRICS_PORT'] as const;
const REGISTERED_MS = 30_000;

export interface ServiceOptions {
  /** The name of the folder and, unless `database` is set, of the database. */
  readonly name: string;
  readonly database?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The program; that of this build by default. */
  readonly main?: string;
  /** The command that runs the program: `node` by default. */
  readonly command?: readonly string[];
}

/** The service as deployed (`node dist/main.js`), all roles unless set. It restarts on the same ports. */
export class ServiceProcess {
  readonly dir: string;
  private readonly ports: Partial<Record<(typeof PORTS)[number], string>> = {};
  private running: Child | null = null;
  private file: SandboxFile | null = null;

  constructor(
    private readonly host: BenchEnvironment,
    private readonly options: ServiceOptions,
  ) {
    this.dir = host.folder(options.name);
  }

  get name(): string {
    return this.options.name;
  }

  async spawn(): Promise<this> {
    const { name, database = name, env = {}, main = MAIN, command = [process.execPath] } = this.options;
    if (!existsSync(main)) throw new Error(`${main} is missing: run npm run build`);
    const chain = await this.host.chain();
    for (const port of PORTS) this.ports[port] ??= env[port] ?? String(await freePort());
    const [program, ...args] = [...command, main];
    this.running = this.host.children.start({
      name: 'service',
      command: program!,
      args,
      dir: this.dir,
      env: {
        MODE: 'sandbox',
        DATA_DIR: this.dir,
        DATABASE_URL: await this.host.database(database),
        CHAIN_RPC_URL: chain.rpcUrl,
        USDC_ADDRESS: chain.usdcAddress,
        RATE_LIMIT_PER_MINUTE: '10000000',
        RATE_LIMIT_PER_IP_PER_MINUTE: '100000000',
        LOG_FILE: join(this.dir, 'service.json.log'),
        ...env,
        ...this.ports,
      },
    });
    return this;
  }

  /** Resolves when the URL returns 200. Throws when the process ends first. */
  async ready(url = this.readyUrl): Promise<void> {
    await ready(this.child, url);
  }

  async start(): Promise<this> {
    await this.spawn();
    await this.ready();
    return this;
  }

  /** Starts a killed process. In `share` of all cases kills it during the start, and returns true. */
  async restart(share = 0): Promise<boolean> {
    await this.spawn();
    const isKilled = Math.random() < share;
    if (isKilled) {
      await sleep(50 + Math.random() * 1450);
      await this.kill();
      await this.spawn();
    }
    await this.ready();
    return isKilled;
  }

  /** Waits until sandbox.json exists, which is the end of the start. */
  async registered(): Promise<void> {
    const file = join(this.dir, 'sandbox.json');
    if (!(await until(() => existsSync(file), REGISTERED_MS))) throw new Error(`${file} was not written`);
    void this.sandbox;
  }

  /** Kills with `kill -9`; resolves when the process has ended. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child.exited() !== null)
      throw new Error(`${this.name} ended before it was killed:\n${this.lastWords()}`);
    process.kill(child.pid, 'SIGKILL');
    if (!(await until(() => child.exited() !== null, 10_000)))
      throw new Error(`${this.name} outlived SIGKILL`);
    // Removes it from the list of processes to stop.
    await child.stop();
  }

  /** Sends SIGTERM and returns how it ended. */
  async stop(): Promise<string | null> {
    await this.child.stop();
    return this.exited();
  }

  /** The exit code or signal; null while the process runs. */
  exited(): string | null {
    return this.child.exited();
  }

  get runs(): boolean {
    return this.running !== null && this.exited() === null;
  }

  get pid(): number {
    return this.child.pid;
  }

  get port(): number {
    return Number(this.ports.PORT);
  }

  get widgetPort(): number {
    return Number(this.ports.WIDGET_PORT);
  }

  get adminPort(): number {
    return Number(this.ports.ADMIN_PORT);
  }

  get portalPort(): number {
    return Number(this.ports.PORTAL_PORT);
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get adminUrl(): string {
    return `http://127.0.0.1:${this.adminPort}`;
  }

  get widgetUrl(): string {
    return `http://127.0.0.1:${this.widgetPort}`;
  }

  /** Keys of two administrators for the admin API. */
  get admin(): SandboxFile['admin'] {
    return this.sandbox.admin;
  }

  get merchant(): Credentials {
    return credentials(this.sandbox.merchant);
  }

  get secondMerchant(): Credentials {
    return credentials(this.sandbox.second_merchant);
  }

  get client(): SignedClient {
    return new SignedClient(this.baseUrl, this.merchant);
  }

  /** The exchange key of the first merchant. */
  get exchange(): { readonly apiKey: string; readonly secret: string } {
    const { api_key: apiKey, secret } = this.sandbox.exchange;
    return { apiKey, secret };
  }

  async health(): Promise<{ readonly ready: boolean; readonly text: string }> {
    const response = await fetch(`${this.baseUrl}/health/ready`);
    return { ready: response.status === 200, text: await response.text() };
  }

  /** The end of stdout and stderr. */
  lastWords(): string {
    return lastWords(this.child.log);
  }

  /** Free ports are chosen before the process listens. On a busy machine another one may use it first. */
  get lostItsPort(): boolean {
    return this.exited() === 'exit code 1' && this.lastWords().includes('EADDRINUSE');
  }

  get child(): Child {
    if (this.running === null) throw new Error(`${this.name} was not started`);
    return this.running;
  }

  private get readyUrl(): string {
    const { ROLES = 'api' } = this.options.env ?? {};
    return ROLES.includes('api')
      ? `${this.baseUrl}/health/ready`
      : `http://127.0.0.1:${this.ports.METRICS_PORT}/metrics`;
  }

  /** The merchants are the same at every start in this folder. */
  private get sandbox(): SandboxFile {
    this.file ??= JSON.parse(readFileSync(join(this.dir, 'sandbox.json'), 'utf8')) as SandboxFile;
    return this.file;
  }
}

export async function startService(host: BenchEnvironment, options: ServiceOptions): Promise<ServiceProcess> {
  const service = await new ServiceProcess(host, options).start();
  await service.registered();
  return service;
}

/** Returns the environment of operators' programs for the service of that name and database. */
export async function operatorEnv(
  host: BenchEnvironment,
  name: string,
): Promise<{ readonly DATABASE_URL: string; readonly MASTER_KEY: string }> {
  const secrets = readFileSync(join(host.folder(name), 'secrets.json'), 'utf8');
  const { master_key: MASTER_KEY } = JSON.parse(secrets) as { master_key: string };
  return { DATABASE_URL: await host.database(name), MASTER_KEY };
}

const credentials = ({ api_key, private_key }: SandboxFile['merchant']): Credentials => ({
  apiKey: api_key,
  privateKey: private_key,
});

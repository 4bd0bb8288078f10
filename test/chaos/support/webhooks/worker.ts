import { fileURLToPath } from 'node:url';
import { lastWords, type Child } from '../../../../bench/support/children.js';
import type { BenchEnvironment } from '../../../../bench/support/environment.js';
import { residentMiB } from '../../../../bench/support/memory.js';
import { freePort, until } from '../../../../sandbox/processes.js';
import type { SilentDns } from './silent-dns.js';

const MAIN = fileURLToPath(new URL('../../../../dist/main.js', import.meta.url));
const READY_MS = 60_000;

/** A worker process of the real build (`ROLES=worker node dist/main.js`) that can be killed and started again. */
export class Worker {
  private child: Child | null = null;
  private metricsPort = 0;

  constructor(
    private readonly environment: Pick<BenchEnvironment, 'chain' | 'folder' | 'children'>,
    readonly name: string,
    private readonly env: Readonly<Record<string, string>>,
    private readonly dns: SilentDns | null = null,
  ) {}

  /** Starts the process without waiting for it. */
  async spawn(): Promise<void> {
    const [port, chain] = await Promise.all([freePort(), this.environment.chain()]);
    const dir = this.environment.folder(this.name);
    this.metricsPort = port;
    this.child = this.environment.children.start({
      name: this.name,
      ...(this.dns === null ? { args: [MAIN] } : this.dns.wrapped([process.execPath, MAIN])),
      dir,
      env: {
        MODE: 'sandbox',
        ROLES: 'worker',
        DATA_DIR: dir,
        CHAIN_RPC_URL: chain.rpcUrl,
        USDC_ADDRESS: chain.usdcAddress,
        // Nobody asks for these.
        PORT: '0',
        WIDGET_PORT: '0',
        PAY_PORT: '0',
        METRICS_PORT: String(port),
        LOG_FILE: `${dir}.json.log`,
        ...this.env,
      },
    });
  }

  /** Resolves when it works. Throws when it ends first. */
  async ready(): Promise<void> {
    if (this.child === null) return;
    const { child } = this;
    const came = await until(async () => child?.exited() !== null || (await this.scrapes()), READY_MS);
    if (!came || child?.exited() !== null)
      throw new Error(`${this.name} did not start:\n${this.lastWords()}`);
  }

  /** `kill -9`; resolves when the process is gone. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === null) return;
    if (child.exited() !== null) throw new Error(`${this.name} ended by itself:\n${this.lastWords()}`);
    process.kill(child.pid, 'SIGKILL');
    if (!(await until(() => child.exited() !== null, 10_000))) throw new Error('a worker outlived SIGKILL');
    await this.forget(child);
  }

  /** SIGTERM; how it ended. */
  async stop(): Promise<string | null> {
    const { child } = this;
    if (child === null) return null;
    await child.stop();
    return child.exited();
  }

  /** Throws while it does not run. */
  get pid(): number {
    if (this.child === null || this.child.exited() !== null) throw new Error(`${this.name} does not run`);
    return this.child.pid;
  }

  get residentMiB(): number {
    return this.child === null || this.child.exited() !== null ? 0 : residentMiB(this.child.pid);
  }

  get exited(): string | null {
    return this.child?.exited() ?? null;
  }

  lastWords(): string {
    return this.child === null ? '' : lastWords(this.child.log);
  }

  /** Takes a dead child off the list of what is to be stopped. */
  private forget(child: Child): Promise<void> {
    return child.stop();
  }

  private async scrapes(): Promise<boolean> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.metricsPort}/metrics`, {
        signal: AbortSignal.timeout(2000),
      });
      await response.arrayBuffer();
      return response.status === 200;
    } catch {
      return false;
    }
  }
}

import { lastWords, ready, type Child } from '../../../bench/support/children.js';
import { residentMiB } from '../../../bench/support/memory.js';
import type { SpawnedService } from '../../../bench/support/service.js';
import { until } from '../../../sandbox/processes.js';

type Env = Readonly<Record<string, string>>;

/** A process of the build that is killed, stopped and started again. */
export class ServiceProcess {
  private spawned: SpawnedService | null = null;

  constructor(
    readonly name: string,
    private readonly start: (env: Env) => Promise<SpawnedService>,
  ) {}

  /** Starts the process without waiting for it; `env` applies to this start alone. */
  async spawn(env: Env = {}): Promise<void> {
    this.spawned = await this.start(env);
  }

  /** Resolves when it works. Throws when it ends first. */
  async ready(): Promise<void> {
    await ready(this.child, this.current.readyUrl);
  }

  /** `kill -9`; resolves when the process has ended. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child.exited() !== null)
      throw new Error(`${this.name} ended before it was killed:\n${this.lastWords()}`);
    process.kill(child.pid, 'SIGKILL');
    if (!(await until(() => child.exited() !== null, 10_000)))
      throw new Error(`${this.name} outlived SIGKILL`);
    // Takes it off the list of what is to be stopped.
    await child.stop();
  }

  /** SIGTERM; how it ended. */
  async stop(): Promise<string | null> {
    await this.child.stop();
    return this.child.exited();
  }

  /** How it ended; null while it runs. */
  exited(): string | null {
    return this.child.exited();
  }

  get runs(): boolean {
    return this.spawned !== null && this.child.exited() === null;
  }

  get pid(): number {
    return this.child.pid;
  }

  get dir(): string {
    return this.current.dir;
  }

  get port(): number {
    return this.current.port;
  }

  /** Of the API. */
  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get widgetUrl(): string {
    return `http://127.0.0.1:${this.current.widgetPort}`;
  }

  get residentMiB(): number {
    return this.runs ? residentMiB(this.pid) : 0;
  }

  /** The end of what it wrote to standard output and error. */
  lastWords(): string {
    return lastWords(this.child.log);
  }

  /** Free ports are chosen before the process listens: on a busy machine another process may get one first. */
  get lostItsPort(): boolean {
    return this.exited() === 'exit code 1' && this.lastWords().includes('EADDRINUSE');
  }

  private get child(): Child {
    return this.current.child;
  }

  private get current(): SpawnedService {
    if (this.spawned === null) throw new Error(`${this.name} was not started`);
    return this.spawned;
  }
}

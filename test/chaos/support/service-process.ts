import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastWords, ready, type Child } from '../../../bench/support/children.js';
import type { BenchEnvironment } from '../../../bench/support/environment.js';
import {
  credentials,
  spawnService,
  type ServiceOptions,
  type SpawnedService,
} from '../../../bench/support/service.js';
import type { Credentials } from '../../../bench/support/sign.js';
import type { SandboxFile } from '../../../sandbox/announce.js';
import { until } from '../../../sandbox/processes.js';
import { between } from './suite.js';

const REGISTERED_MS = 30_000;

/** A process of the build that is killed, stopped and started again on its port. */
export class ServiceProcess {
  private spawned: SpawnedService | null = null;
  private file: SandboxFile | null = null;

  constructor(
    private readonly environment: BenchEnvironment,
    private readonly options: ServiceOptions,
  ) {}

  get name(): string {
    return this.options.name;
  }

  /** Starts the process without waiting for it. */
  async spawn(): Promise<void> {
    const env = { ...this.options.env, ...(this.spawned !== null && { PORT: String(this.port) }) };
    this.spawned = await spawnService(this.environment, { ...this.options, env });
  }

  /** Resolves when the URL returns 200. Throws when the process ends first. */
  async ready(url = this.current.readyUrl): Promise<void> {
    await ready(this.child, url);
  }

  async start(): Promise<this> {
    await this.spawn();
    await this.ready();
    return this;
  }

  /**
   * Starts it again after a kill; in `share` of all cases it is killed once more during the start. Returns whether it
   * was.
   */
  async restart(share = 0): Promise<boolean> {
    await this.spawn();
    const isKilled = Math.random() < share;
    if (isKilled) {
      await sleep(between(50, 1500));
      await this.kill();
      await this.spawn();
    }
    await this.ready();
    return isKilled;
  }

  /** `kill -9`; resolves when the process has ended. */
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

  get widgetPort(): number {
    return this.current.widgetPort;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Keys of two administrators for the admin API. */
  get admin(): SandboxFile['admin'] {
    return this.sandbox.admin;
  }

  get adminPort(): number {
    return this.current.adminPort;
  }

  get adminUrl(): string {
    return `http://127.0.0.1:${this.adminPort}`;
  }

  get portalPort(): number {
    return this.current.portalPort;
  }

  get widgetUrl(): string {
    return `http://127.0.0.1:${this.widgetPort}`;
  }

  get merchant(): Credentials {
    return credentials(this.sandbox.merchant);
  }

  get secondMerchant(): Credentials {
    return credentials(this.sandbox.second_merchant);
  }

  /** The exchange key of the first merchant. */
  get exchange(): { readonly apiKey: string; readonly secret: string } {
    const { api_key: apiKey, secret } = this.sandbox.exchange;
    return { apiKey, secret };
  }

  /** The end of its standard output and error. */
  lastWords(): string {
    return lastWords(this.child.log);
  }

  /** Free ports are chosen before the process listens: on a busy machine another process may get one first. */
  get lostItsPort(): boolean {
    return this.exited() === 'exit code 1' && this.lastWords().includes('EADDRINUSE');
  }

  /** The merchants are the same at every start in its folder. */
  private get sandbox(): SandboxFile {
    this.file ??= JSON.parse(readFileSync(join(this.dir, 'sandbox.json'), 'utf8')) as SandboxFile;
    return this.file;
  }

  /** Waits until its merchants can be read and its start has ended. */
  async registered(): Promise<void> {
    const file = join(this.dir, 'sandbox.json');
    if (!(await until(() => existsSync(file), REGISTERED_MS))) throw new Error(`${file} was not written`);
    void this.sandbox;
  }

  private get child(): Child {
    return this.current.child;
  }

  private get current(): SpawnedService {
    if (this.spawned === null) throw new Error(`${this.name} was not started`);
    return this.spawned;
  }
}

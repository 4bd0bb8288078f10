import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { BenchEnvironment } from '../../../bench/support/environment.js';
import { ServiceProcess, type ServiceOptions } from '../../../bench/support/service.js';
import type { PostgresOptions } from '../../../sandbox/postgres-cluster.js';
import { startPostgres, type RunningPostgres } from '../../../sandbox/postgres.js';
import { Teardown } from '../../../sandbox/teardown.js';
import { oneOf } from './suite.js';
import { Treasury } from './treasury.js';

const DATABASE = 'chaos';
/** The share of kills of a single backend, after which PostgreSQL ends all others and recovers. */
const BACKEND_SHARE = 0.4;

type StartPostgres = (options: PostgresOptions) => Promise<RunningPostgres>;
type Env = Readonly<Record<string, string>>;

/** One PostgreSQL and dev chain, and any number of service processes that share them. */
export class Shared {
  /** The teardown of a suite, in reverse order, before that of the processes and the servers. */
  readonly ends = new Teardown();
  private readonly processes: ServiceProcess[] = [];

  private constructor(
    readonly environment: BenchEnvironment,
    readonly masterKey: string,
    private url: string,
    private connections: pg.Pool,
  ) {
    this.ends.add(() => environment.close());
    // Kills them, because no request in flight needs to drain.
    this.ends.add(async () => {
      await Promise.all(this.processes.filter(({ runs }) => runs).map((each) => each.kill()));
    });
  }

  /** `settings` override the usual ones of PostgreSQL. `start` may start a cluster of servers. */
  static async start(settings: Env = {}, start: StartPostgres = startPostgres): Promise<Shared> {
    const environment = await BenchEnvironment.start(settings, start);
    const masterKey = randomBytes(32).toString('hex');
    try {
      const url = await environment.database(DATABASE);
      return new Shared(environment, masterKey, url, await environment.pool(DATABASE));
    } catch (error) {
      await environment.close();
      throw error;
    }
  }

  /** Runs `work` on separate servers, which end with it. */
  static async run(work: (shared: Shared) => Promise<void>, starting = Shared.start()): Promise<void> {
    const shared = await starting;
    await work(shared).finally(() => shared.close());
  }

  get database(): string {
    return DATABASE;
  }

  get databaseUrl(): string {
    return this.url;
  }

  get pool(): pg.Pool {
    return this.connections;
  }

  /** Continues with the PostgreSQL server in `dir`, in place of the killed one. */
  async replacePostgres(dir: string, settings: Env): Promise<void> {
    await this.environment.replacePostgres(dir, settings);
    this.url = await this.environment.database(DATABASE);
    this.connections = await this.environment.pool(DATABASE);
  }

  chain(): Promise<{ readonly rpcUrl: string; readonly usdcAddress: string }> {
    return this.environment.chain();
  }

  async treasury(): Promise<Treasury> {
    return Treasury.of(await this.chain());
  }

  /** Copies the database `from`, which no service may use, and returns the URL of the copy. */
  async copyDatabase(name: string, from = DATABASE): Promise<string> {
    await this.environment.copyDatabase(from, name);
    return this.environment.database(name);
  }

  /** Starts a process with its merchants. The same name has the same folder and merchants. */
  async service(name: string, env: Env = {}): Promise<ServiceProcess> {
    const started = await this.process(name, env).start();
    await started.registered();
    return started;
  }

  process(name: string, env: Env, more: Pick<ServiceOptions, 'main' | 'command'> = {}): ServiceProcess {
    const all = { MASTER_KEY: this.masterKey, ...env };
    const created = new ServiceProcess(this.environment, { name, database: DATABASE, env: all, ...more });
    this.processes.push(created);
    return created;
  }

  /** Chooses the process of PostgreSQL to kill or to stop: the server, or a backend of the service. */
  async postgresVictim(): Promise<{ readonly pid: number; readonly name: string }> {
    const { rows } = await this.pool.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'disburse'`,
    );
    return rows.length > 0 && Math.random() < BACKEND_SHARE
      ? { pid: oneOf(rows).pid, name: 'a backend' }
      : { pid: this.environment.postmaster, name: 'the server' };
  }

  /**
   * Kills the server or a backend with `kill -9` and restarts the server, like a supervisor. Returns which it
   * was, once all other backends have ended and can acknowledge nothing.
   */
  async killPostgres(): Promise<string> {
    const { pid, name } = await this.postgresVictim();
    const other = await this.pool.connect();
    const ended = new Promise<void>(
      (resolve) => void other.once('end', resolve).on('error', () => undefined),
    );
    process.kill(pid, 'SIGKILL');
    await ended;
    other.release(true);
    if (name === 'the server') await this.environment.restartPostgres();
    return name;
  }

  close(): Promise<void> {
    return this.ends.run();
  }
}

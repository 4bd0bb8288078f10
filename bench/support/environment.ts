import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { postgresHome } from '../../sandbox/binaries.js';
import { startChain, type RunningChain } from '../../sandbox/chain.js';
import { ensureDatabase, startPostgres, type RunningPostgres } from '../../sandbox/postgres.js';
import type { PostgresOptions } from '../../sandbox/postgres-cluster.js';
import { isFree, until } from '../../sandbox/processes.js';
import { serverUser } from '../../sandbox/server-user.js';
import { deployUsdc } from '../../sandbox/usdc.js';
import { Children } from './children.js';

export interface Chain {
  readonly rpcUrl: string;
  readonly usdcAddress: string;
}

const CHAIN_ID = 31337;

/** The folder, PostgreSQL (durable, as in production) and processes of a run. `close` removes them all. */
export class BenchEnvironment {
  readonly children = new Children();
  private readonly pools = new Map<string, pg.Pool>();
  private anvil: RunningChain | undefined;
  private deployed: Promise<Chain> | undefined;

  private constructor(
    readonly dir: string,
    private options: PostgresOptions,
    private postgres: RunningPostgres,
  ) {}

  /** `settings` override the usual ones of PostgreSQL. */
  static async start(
    settings: Readonly<Record<string, string>> = {},
    start: (options: PostgresOptions) => Promise<RunningPostgres> = startPostgres,
  ): Promise<BenchEnvironment> {
    // Inside the folder of a test run, whose end kills its processes, also after a timeout.
    const dir = mkdtempSync(join(process.env['DISBURSE_TEST_RUN'] ?? tmpdir(), 'disburse-bench-'));
    // PostgreSQL may run as another user, who needs access to its folder below.
    chmodSync(dir, 0o711);
    const options = {
      dir: join(dir, 'postgres'),
      home: postgresHome(),
      password: 'bench',
      durable: true,
      user: serverUser(),
      settings,
    };
    return new BenchEnvironment(dir, options, await start(options));
  }

  get postmaster(): number {
    return this.postgres.pid;
  }

  /** Restarts a killed server on its data and its port. */
  async restartPostgres(): Promise<void> {
    const { port } = this.postgres;
    // Backends of the killed server hold its port until they end.
    await until(() => isFree(port), 30_000);
    this.postgres = await startPostgres({ ...this.options, port });
    // Processes have URLs with the former port.
    if (this.postgres.port !== port) throw new Error(`another program uses port ${port} of PostgreSQL`);
  }

  get postgresData(): string {
    return join(this.options.dir, 'data');
  }

  /** Kills the PostgreSQL server with `kill -9`, and waits until all its backends have ended. */
  async killPostgres(): Promise<void> {
    const { pid, port } = this.postgres;
    process.kill(pid, 'SIGKILL');
    if (!(await until(() => isFree(port), 30_000))) throw new Error('backends outlive the killed server');
  }

  /** Continues with the data in `dir`, on another port, in place of the killed server. */
  async replacePostgres(dir: string, settings: Readonly<Record<string, string>>): Promise<void> {
    for (const pool of this.pools.values()) await pool.end();
    this.pools.clear();
    this.options = { ...this.options, dir, settings };
    this.postgres = await startPostgres(this.options);
  }

  /** Returns the URL of the database, which is created when missing. */
  async database(name: string): Promise<string> {
    await ensureDatabase(this.postgres, name);
    return this.postgres.url(name);
  }

  /** Copies a database under another name. Closes the connections of the first; pools reconnect. */
  async copyDatabase(from: string, to: string): Promise<void> {
    await this.maintain(
      `select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = '${from}'`,
    );
    await this.maintain(`create database ${to} template ${from}`);
  }

  async dropDatabase(name: string): Promise<void> {
    await this.maintain(`drop database ${name} with (force)`);
  }

  /** Writes out dirty pages, so that one variant does not pay for the writes of the previous one. */
  async checkpoint(): Promise<void> {
    await this.maintain('checkpoint');
  }

  async pool(name: string): Promise<pg.Pool> {
    const known = this.pools.get(name);
    if (known !== undefined) return known;
    const pool = new pg.Pool({ connectionString: await this.database(name), max: 4 });
    pool.on('error', () => undefined);
    this.pools.set(name, pool);
    return pool;
  }

  /** The dev chain with the test USDC, started on first use. */
  chain(): Promise<Chain> {
    this.deployed ??= this.startChain();
    return this.deployed;
  }

  folder(name: string): string {
    return join(this.dir, name);
  }

  async close(): Promise<void> {
    await this.children.stopAll();
    await this.anvil?.stop();
    for (const pool of this.pools.values()) await pool.end();
    await this.postgres.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  private async maintain(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.postgres.url('postgres') });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }

  private async startChain(): Promise<Chain> {
    this.anvil = await startChain({ dir: this.folder('chain'), chainId: CHAIN_ID });
    const usdcAddress = await deployUsdc(this.anvil.rpcUrl, CHAIN_ID);
    return { rpcUrl: this.anvil.rpcUrl, usdcAddress };
  }
}

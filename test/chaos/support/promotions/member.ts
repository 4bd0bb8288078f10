import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg, { type QueryResultRow } from 'pg';
import { POSTGRES_USER, type PostgresOptions } from '../../../../sandbox/postgres-cluster.js';
import { startPostgres, type RunningPostgres } from '../../../../sandbox/postgres.js';
import { isAlive, isFree, until } from '../../../../sandbox/processes.js';
import { takeBaseBackup } from '../restores/base-backup.js';
import { writeOwnedFile } from '../restores/copy-folder.js';

/** A partition isolates the first address. The second one serves programs on the same machine. */
const HOST = '127.0.0.1';
const LOCAL_HOST = '127.0.0.2';
const STATEMENT_MS = 30_000;

const SETTINGS = {
  listen_addresses: `${HOST},${LOCAL_HOST}`,
  wal_level: 'replica',
  max_wal_senders: '10',
  // A standby reads its missing log from any primary, without a slot.
  wal_keep_size: '512MB',
  wal_retrieve_retry_interval: '100ms',
  wal_sender_timeout: '5s',
  wal_receiver_timeout: '5s',
};

export class Member {
  private running: RunningPostgres | null = null;
  private chosenPort = 0;

  constructor(
    readonly name: string,
    private readonly names: readonly string[],
    private readonly options: PostgresOptions,
  ) {}

  get port(): number {
    return this.chosenPort;
  }

  get pid(): number {
    return this.running?.pid ?? 0;
  }

  url(database: string): string {
    return `postgres://${POSTGRES_USER}:${this.options.password}@${HOST}:${this.port}/${database}`;
  }

  /** The URL for a program on this server's side of a partition. */
  localUrl(database: string): string {
    return this.url(database).replace(HOST, LOCAL_HOST);
  }

  async start(): Promise<void> {
    const { options, chosenPort } = this;
    const settings = { ...options.settings, ...SETTINGS };
    this.running = await startPostgres({ ...options, settings, port: chosenPort || null });
    if (chosenPort !== 0 && this.running.port !== chosenPort)
      throw new Error(`another program uses port ${chosenPort} of server ${this.name}`);
    this.chosenPort = this.running.port;
  }

  /** Requires another server per commit, so that any two of three have every acknowledged commit. */
  async requireQuorum(): Promise<void> {
    await this.set('synchronous_standby_names', this.quorum);
  }

  /** Receives the log of `primary`, or of none. Resolves once the setting is applied. */
  async follow(primary: Member | null): Promise<void> {
    await this.set('primary_conninfo', primary === null ? '' : primary.connectionOf(this));
    if (primary !== null) return;
    const isFenced = async (): Promise<boolean> =>
      (await this.query('select from pg_stat_wal_receiver')).length === 0;
    if (!(await until(isFenced, STATEMENT_MS))) throw new Error(`${this.name} still receives a log`);
  }

  /** The end of the log on disk. */
  async received(): Promise<bigint> {
    const [row] = await this.query<{ bytes: string }>(
      `select greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'::pg_lsn as bytes`,
    );
    return BigInt(row!.bytes);
  }

  async promote(): Promise<void> {
    const [row] = await this.query<{ promoted: boolean }>('select pg_promote(true, 30) as promoted');
    if (row?.promoted !== true) throw new Error(`${this.name} was not promoted`);
  }

  /** Becomes a standby of `primary` with a fresh copy of its data. No process of this server may run. */
  async rebuildFrom(primary: Member): Promise<void> {
    const { data } = this;
    rmSync(data, { recursive: true, force: true });
    await takeBaseBackup(primary.url('postgres'), primary.data, data);
    await writeOwnedFile(
      join(data, 'postgresql.auto.conf'),
      `synchronous_standby_names = '${this.quorum}'\nprimary_conninfo = '${primary.connectionOf(this)}'\n`,
    );
    await writeOwnedFile(join(data, 'standby.signal'), '');
    await this.start();
  }

  /** Sends the signal to the server and to each of its processes. */
  async signal(signal: NodeJS.Signals): Promise<readonly number[]> {
    const { pid } = this;
    // A stopped server starts no other processes.
    process.kill(pid, 'SIGSTOP');
    const all = [...(await childrenOf(pid)), pid];
    for (const each of all) signalRunning(each, signal);
    return all;
  }

  /** Kills everything with `kill -9`, like a power failure. */
  async kill(): Promise<void> {
    if (!isAlive(this.pid)) return;
    const all = await this.signal('SIGKILL');
    const isGone = async (): Promise<boolean> => !all.some(isAlive) && (await isFree(this.port));
    if (!(await until(isGone, 30_000))) throw new Error(`processes of ${this.name} outlive SIGKILL`);
  }

  async query<Row extends QueryResultRow>(sql: string, timeoutMs = STATEMENT_MS): Promise<Row[]> {
    const client = new pg.Client({
      connectionString: this.url('postgres'),
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Row>(sql)).rows;
    } finally {
      // A stopped server never closes the connection.
      void client.end().catch(() => undefined);
    }
  }

  private get data(): string {
    return join(this.options.dir, 'data');
  }

  private get quorum(): string {
    return `ANY 1 (${this.names.join(', ')})`;
  }

  private connectionOf(standby: Member): string {
    return `host=${HOST} port=${this.port} user=${POSTGRES_USER} password=${this.options.password} connect_timeout=2 application_name=${standby.name}`;
  }

  private async set(setting: string, value: string): Promise<void> {
    await this.query(`alter system set ${setting} = '${value}'`);
    await this.query('select pg_reload_conf()');
  }
}

/** Ignores processes that have ended meanwhile. */
function signalRunning(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const listed = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return listed.trim().split(' ').filter(Boolean).map(Number);
}

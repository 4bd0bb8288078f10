import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort, runsIn, startDaemon, stopProcess, until } from './processes.js';
import {
  createCluster,
  hasCluster,
  postgresEnvironment,
  POSTGRES_USER,
  type PostgresOptions,
} from './postgres-cluster.js';
import { SandboxError } from './sandbox-error.js';
import type { Server } from './supervisor.js';

/** The settings for little memory and safety after a kill. `io_method=sync` avoids three idle processes. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '128MB',
  max_connections: '400',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  io_method: 'sync',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  log_line_prefix: '%m [%p] ',
};

const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** The origin of the server. `adopted`: an earlier, killed service left it running. */
export type Origin = 'created' | 'restarted' | 'adopted';

export interface RunningPostgres extends Server {
  readonly origin: Origin;
  url(database: string): string;
}

/**
 * Starts the PostgreSQL of `dir`, or adopts a running one. The first start creates the cluster (0.5 s), with
 * scram-sha-256 and on the loopback address only.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  mkdirSync(options.dir, { recursive: true });
  const data = join(options.dir, 'data');
  const created = !hasCluster(data);
  if (created) await createCluster(options, data);
  const running = await findRunning(data);
  if (running) {
    if (await responds(options, running.port)) return handle(options, data, running, 'adopted');
    await stopPostmaster(running.pid);
  }
  rmSync(join(data, 'postmaster.pid'), { force: true });
  return handle(options, data, await launch(options, data), created ? 'created' : 'restarted');
}

/** Stops a server that still runs in `dir`. */
export async function stopAbandonedPostgres(dir: string): Promise<void> {
  const running = readPostmaster(join(dir, 'data'));
  if (running) await stopPostmaster(running.pid);
}

interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

/** Reads `postmaster.pid`; null where the process that it names is not the server of this folder. */
function readPostmaster(data: string): Postmaster | null {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, 'utf8').split('\n');
  const pid = Number(lines[0]);
  if (!runsIn(pid, data)) return null;
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' };
}

/** Returns the server that runs in the folder, once it is ready or has stopped; null if none runs. */
async function findRunning(data: string): Promise<Postmaster | null> {
  let found: Postmaster | null = null;
  await until(() => {
    found = readPostmaster(data);
    return found === null || found.ready;
  }, 60_000);
  return found;
}

async function launch(options: PostgresOptions, data: string): Promise<Postmaster> {
  const log = join(options.dir, 'postgres.log');
  for (let attempt = 1; ; attempt += 1) {
    const before = existsSync(log) ? readFileSync(log, 'utf8').length : 0;
    const port = await freePort(options.port);
    const settings = { ...SETTINGS, ...(options.durable ? {} : NOT_DURABLE), ...options.settings };
    const daemon = startDaemon({
      command: join(options.home, 'bin', 'postgres'),
      args: [
        '-D',
        data,
        '-p',
        String(port),
        ...Object.entries(settings).flatMap(([k, v]) => ['-c', `${k}=${v}`]),
      ],
      cwd: options.dir,
      logFile: log,
      env: postgresEnvironment(),
      ...options.user,
    });
    let found: Postmaster | null = null;
    await until(() => {
      if (daemon.exited() !== null) return true;
      found = readPostmaster(data);
      return found !== null && found.ready;
    }, 60_000);
    found = readPostmaster(data);
    if (found !== null && found.ready) return found;
    await stopPostmaster(daemon.pid);
    const said = readFileSync(log, 'utf8').slice(before).trim();
    // Another program took the port meanwhile, or backends of a killed server still hold the shared memory.
    const passing = /Address already in use|pre-existing shared memory|lock file .* already exists/.test(
      said,
    );
    if (!passing || attempt === 20) {
      throw new SandboxError(
        `PostgreSQL did not start (${daemon.exited() ?? 'no response'}):\n${said || `see ${log}`}`,
      );
    }
    await until(() => false, 250);
  }
}

function handle(options: PostgresOptions, data: string, server: Postmaster, origin: Origin): RunningPostgres {
  return {
    port: server.port,
    pid: server.pid,
    origin,
    url: (database) => urlOf(options, server.port, database),
    stop: async () => {
      if (runsIn(server.pid, data)) await stopPostmaster(server.pid);
    },
  };
}

/** Stops the server. The first signal is a fast shutdown, which ends sessions and writes a checkpoint. */
function stopPostmaster(pid: number): Promise<void> {
  return stopProcess(pid, [
    ['SIGINT', 15_000],
    ['SIGQUIT', 5000],
    ['SIGKILL', 2000],
  ]);
}

function urlOf(options: PostgresOptions, port: number, database: string): string {
  return `postgres://${POSTGRES_USER}:${options.password}@127.0.0.1:${port}/${database}`;
}

async function responds(options: PostgresOptions, port: number): Promise<boolean> {
  const client = new pg.Client({
    connectionString: urlOf(options, port, 'postgres'),
    connectionTimeoutMillis: 5000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Creates the database unless it exists. */
export async function ensureDatabase(server: RunningPostgres, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}

import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SandboxError } from './sandbox-error.js';
import type { ServerUser } from './server-user.js';

/** The one role of the embedded server: its superuser. */
export const POSTGRES_USER = 'disburse';

export interface PostgresOptions {
  /** The folder of the server, with `data` and `postgres.log`; created when missing. */
  readonly dir: string;
  /** The folder with `bin`, `lib` and `share`. */
  readonly home: string;
  readonly password: string;
  /** The port of the previous run. Another port is chosen if this port is in use. */
  readonly port?: number | null;
  /** True to write with fsync; false only in tests. */
  readonly durable: boolean;
  /** The additional settings of the server, for example to archive its write-ahead log. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly user: ServerUser | null;
}

const MARK = 'disburse.ready';

/** Checks for the marker of a complete cluster. A folder without it was left by an interrupted creation. */
export function hasCluster(data: string): boolean {
  return existsSync(join(data, MARK));
}

/** Creates an empty cluster with scram-sha-256 for every connection, owned by the server's user. */
export async function createCluster(options: PostgresOptions, data: string): Promise<void> {
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { mode: 0o700 });
  const passwordFile = join(options.dir, `password-${process.pid}`);
  writeFileSync(passwordFile, `${options.password}\n`, { mode: 0o600 });
  if (options.user) {
    for (const path of [data, passwordFile]) chownSync(path, options.user.uid, options.user.gid);
  }
  try {
    await run(options, join(options.home, 'bin', 'initdb'), [
      `--pgdata=${data}`,
      `--username=${POSTGRES_USER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--no-instructions',
      options.durable ? '--sync-method=fsync' : '--no-sync',
    ]);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  writeFileSync(join(data, MARK), '');
}

function run(options: PostgresOptions, command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: options.dir, env: postgresEnvironment(), ...options.user });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.on('error', (error) =>
      reject(new SandboxError(`PostgreSQL could not be set up: ${error.message}`)),
    );
    child.on('close', (code) => {
      if (code === 0) return resolve();
      // Only initdb requires the name, and only an entry in /etc/passwd provides it.
      const hint = /effective user ID/.test(said) ? ' Start as a user with a name, or set DATABASE_URL.' : '';
      reject(
        new SandboxError(
          `PostgreSQL could not be set up (exit code ${code ?? 'unknown'}): ${said.trim()}${hint}`,
        ),
      );
    });
  });
}

/** The environment of the server, without the caller's PG* variables and locale. */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
}

import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Daemon {
  readonly pid: number;
  /** Returns a description of the exit, such as `exit code 1`; null while the process runs. */
  exited(): string | null;
}

export interface DaemonOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The file to which standard output and error are appended. */
  readonly logFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Starts a server in a separate session. Ctrl-C in the terminal does not reach it, so the service can drain
 * its requests first. After `kill -9` of the service the server continues, and the next start adopts it.
 */
export function startDaemon(options: DaemonOptions): Daemon {
  const log = openSync(options.logFile, 'a', 0o600);
  try {
    const child = spawn(options.command, options.args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ['ignore', log, log],
      detached: true,
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.gid }),
    });
    let end: string | null = null;
    child.on('error', (error) => {
      end = error.message;
    });
    child.on('exit', (code, signal) => {
      end ??= signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`;
    });
    child.unref();
    return { pid: child.pid ?? 0, exited: () => end };
  } finally {
    closeSync(log);
  }
}

export function isAlive(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' && !isZombie(pid);
  }
}

/** Checks for a zombie. In a container whose first process does not reap orphans, zombies remain. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}

/** Checks that the process runs in the folder `dir`, because another process may have the pid by now. */
export function runsIn(pid: number, dir: string): boolean {
  if (!isAlive(pid)) return false;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dir);
  } catch {
    const found = spawnSync('lsof', ['-a', '-p', String(pid), '-d', 'cwd', '-Fn'], { encoding: 'utf8' });
    return found.status === 0 && found.stdout.includes(`n${dir}\n`);
  }
}

/** Sends the signals in order until the process ends, and waits up to the time in ms after each. */
export async function stopProcess(
  pid: number,
  steps: readonly (readonly [NodeJS.Signals, number])[],
): Promise<void> {
  for (const [signal, timeoutMs] of steps) {
    if (!isAlive(pid)) return;
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    if (await until(() => !isAlive(pid), timeoutMs)) return;
  }
}

/** Checks the condition every 25 ms. Returns true once it holds, false after the timeout. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() > deadline) return false;
    await sleep(25);
  }
}

/** Checks that no process listens on the port. */
export function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** The recently chosen ports, on which programs possibly do not listen yet. */
const assigned = new Set<number>();
const MAX_ASSIGNED = 1000;

/**
 * Chooses a free loopback port below 32768, `last` if it is free. The kernel assigns higher ports to outgoing
 * connections, which could take the port of a server that restarts.
 */
export async function freePort(last: number | null = null): Promise<number> {
  // The threads of a killed server take a while to release its port.
  if (last !== null && (await until(() => isFree(last), 1000))) return last;
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = 15_000 + Math.floor(Math.random() * 17_000);
    if (assigned.has(port)) continue;
    if (assigned.size >= MAX_ASSIGNED) assigned.clear();
    assigned.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error('no free loopback port between 15000 and 32000');
}

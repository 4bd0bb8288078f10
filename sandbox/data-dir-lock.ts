import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeJson } from './files.js';
import { isAlive, until } from './processes.js';
import { SandboxError } from './sandbox-error.js';

interface Holder {
  readonly pid: number;
  /** The start time of the process. It distinguishes the process from a later one with the same pid. */
  readonly started: string | null;
}

/** The maximum wait for a service that is shutting down and still holds the folder. */
const TIMEOUT_MS = 5000;

/**
 * Locks the folder for this process and returns the function that unlocks it. Without the lock, a second
 * service would stop the database of the first. The lock of a killed process is ignored.
 */
export async function lockDataDir(dataDir: string, timeoutMs = TIMEOUT_MS): Promise<() => void> {
  const file = join(dataDir, 'service.pid');
  if (!(await until(() => holderOf(file) === null, timeoutMs))) {
    const pid = holderOf(file)?.pid ?? 0;
    throw new SandboxError(
      `A sandbox is already running in ${dataDir} (process ${pid}): stop it with Ctrl-C or kill ${pid}, or set DATA_DIR to another folder.`,
    );
  }
  writeJson(file, { pid: process.pid, started: startOf(process.pid) } satisfies Holder);
  return () => rmSync(file, { force: true });
}

function holderOf(file: string): Holder | null {
  const holder = readJson<Holder>(file);
  if (holder === null || holder.pid === process.pid || !isAlive(holder.pid)) return null;
  return startOf(holder.pid) === holder.started ? holder : null;
}

function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

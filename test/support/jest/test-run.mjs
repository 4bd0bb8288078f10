import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const PREFIX = 'disburse-test-';

export async function sweepOrphans() {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = join(tmpdir(), name);
    const owner = join(folder, 'run.pid');
    if (existsSync(owner) && !isAlive(Number(readFileSync(owner, 'utf8')))) await removeRun(folder);
  }
}

/** Kills every process that works inside the folder and deletes it. None needs a clean shutdown. */
export async function removeRun(folder) {
  const servers = processesIn(folder);
  for (const pid of servers) kill(pid);
  while (servers.some(isAlive)) await sleep(10);
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

/** Kills the children and their descendants, except servers in the run's folder outside the suite's. */
export async function killSpawned(children, run, suite) {
  const ofRun = new Set(processesIn(run));
  for (const pid of processesIn(suite)) ofRun.delete(pid);
  const living = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  const pids = descendantsOf(
    living.map(({ pid }) => pid),
    ofRun,
  );
  for (const pid of pids) kill(pid);
  while (pids.some(isAlive)) await sleep(10);
}

/**
 * Returns the processes and their descendants, or the processes alone without /proc. Omits `except` and their
 * forks, because PostgreSQL restarts when one of its processes is killed.
 */
export function descendantsOf(pids, except = new Set()) {
  const found = pids.filter((pid) => !except.has(pid));
  if (found.length === 0 || !existsSync('/proc/self')) return found;
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^[0-9]+$/.test(name)) continue;
    try {
      const parent = Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // The process has ended.
    }
  }
  for (const pid of found) found.push(...(children.get(pid) ?? []).filter((child) => !except.has(child)));
  return found;
}

export function processesIn(folder) {
  const root = realpathSync(folder) + sep;
  const pids = existsSync('/proc/self')
    ? readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))
    : pidFiles(folder);
  return pids.map(Number).filter((pid) => {
    try {
      return !existsSync('/proc/self') || readlinkSync(`/proc/${pid}/cwd`).startsWith(root);
    } catch {
      return false;
    }
  });
}

/** Returns the pids that servers recorded, if there is no /proc. */
function pidFiles(folder) {
  const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
  return files.flatMap((file) => {
    if (file.endsWith('postmaster.pid')) return [readFileSync(file, 'utf8').split('\n')[0]];
    if (file.endsWith('chain.json')) return [JSON.parse(readFileSync(file, 'utf8')).pid];
    return [];
  });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** A killed child that its parent has not reaped yet counts as ended. */
function isZombie(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].startsWith('Z');
  } catch {
    return false;
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

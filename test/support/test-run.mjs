import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const PREFIX = 'disburse-test-';

/** Removes what runs left behind that were killed. */
export async function sweepOrphans() {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = join(tmpdir(), name);
    const owner = join(folder, 'run.pid');
    if (existsSync(owner) && !isAlive(Number(readFileSync(owner, 'utf8')))) await removeRun(folder);
  }
}

/** Kills every process that works inside the folder, then deletes it: nothing in there is worth a clean shutdown. */
export async function removeRun(folder) {
  const servers = processesIn(folder);
  for (const pid of servers) kill(pid);
  while (servers.some(isAlive)) await sleep(10);
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

function processesIn(folder) {
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

/** Where there is no /proc: the pids that the servers wrote down. */
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

/** A killed child whose parent has not asked for it yet counts as gone. */
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
    // Gone already.
  }
}

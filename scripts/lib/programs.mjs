// Programs that an installation or a build runs. Each has its own process group, which ends as a whole.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from './terminal.mjs';

const CHECK_MS = 50;
const HAS_PROC = existsSync('/proc/self/stat');

/**
 * Runs a program quietly in `cwd`; its output is displayed when it fails. `signal` ends it with all that it started.
 * `started` is called with its process id, which is that of its group too.
 */
export async function run(command, args, { cwd, signal, started }) {
  signal.throwIfAborted();
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const killGroup = () => signalGroup(child.pid, 'SIGKILL');
  process.once('exit', killGroup);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  const ended = new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Problem(`${command} could not be started: ${error.message}`)));
    child.on('exit', killGroup);
    child.on('close', resolve);
  });
  signal.addEventListener('abort', killGroup);
  try {
    if (child.pid !== undefined) started(child.pid);
    const code = await ended;
    signal.throwIfAborted();
    if (code !== 0) throw new Problem(`${[command, ...args].join(' ')} failed:\n\n${said.trim()}`);
  } finally {
    await endGroup(child.pid);
    signal.removeEventListener('abort', killGroup);
    process.off('exit', killGroup);
  }
}

/**
 * Kills every process of the group, and waits until it is empty. After SIGTERM npm would undo for seconds what the next
 * `npm ci` removes anyway, or continue without a package whose script was ended.
 */
export async function endGroup(group) {
  signalGroup(group, 'SIGKILL');
  while (groupLives(group)) await sleep(CHECK_MS);
}

function signalGroup(group, signal) {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** A dead process that its parent never reaps keeps the group: where there is /proc, it does not count. */
export function groupLives(group) {
  if (!signalGroup(group, 0)) return false;
  return !HAS_PROC || readdirSync('/proc').some((name) => statOf(name)?.group === group);
}

/** The start of a process, which with its id identifies it: ids are used again. Null where it does not run. */
export function startOf(pid) {
  if (HAS_PROC) return statOf(pid)?.start ?? null;
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/** Null for a process that is dead, reaped or not. */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 'ZX'.includes(fields[0]) ? null : { group: Number(fields[2]), start: fields[19] };
  } catch {
    return null;
  }
}

// The sandbox that runs in a folder, by the files that it keeps there.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Unreachable } from './usage.mjs';

const BOOT_TIMEOUT_MS = 60_000;

/** DATA_DIR, or `.sandbox` in this folder or the nearest one above that has it. */
export function nearestDataDir(env = process.env, from = process.cwd()) {
  if (env.DATA_DIR) return resolve(from, env.DATA_DIR);
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.sandbox'))) return join(folder, '.sandbox');
    if (folder === dirname(folder)) return join(from, '.sandbox');
  }
}

/** Reads sandbox.json of the folder; null when none runs. Waits for a sandbox that is booting. */
export async function findSandbox(folder) {
  const file = join(folder, 'sandbox.json');
  const deadline = performance.now() + BOOT_TIMEOUT_MS;
  for (;;) {
    const holder = holderOf(join(folder, 'service.pid'));
    if (holder === null) return null;
    if (existsSync(file)) {
      const sandbox = JSON.parse(readFileSync(file, 'utf8'));
      const response = await fetch(`${sandbox.base_url}/health/ready`, {
        signal: AbortSignal.timeout(5000),
      }).catch(() => null);
      if (response?.ok) return sandbox;
    }
    if (performance.now() > deadline) {
      throw new Unreachable(
        `The sandbox in ${folder} (process ${holder}) runs, but it is not ready: see service.log there.`,
      );
    }
    await sleep(200);
  }
}

function holderOf(file) {
  if (!existsSync(file)) return null;
  const { pid } = JSON.parse(readFileSync(file, 'utf8'));
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return error.code === 'EPERM' ? pid : null;
  }
}

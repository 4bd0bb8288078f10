// Finds the sandbox that runs in DATA_DIR, or starts one.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from './installation.mjs';
import { dataDir, nextSignal, startService, stopService } from './service.mjs';
import { Problem, step } from './terminal.mjs';

const BOOT_TIMEOUT_MS = 60_000;

/** Returns what is in sandbox.json, and how to let go: stops the sandbox only when it was started here. */
export async function useSandbox() {
  const running = await findSandbox();
  if (running) {
    await step('Sandbox', async () => `running at ${running.base_url}`);
    return { sandbox: running, letGo: async () => undefined };
  }
  await build();
  for (const name of ['PORT', 'WIDGET_PORT', 'PAY_PORT', 'ADMIN_PORT', 'PORTAL_PORT', 'METRICS_PORT'])
    process.env[name] ??= '0';
  const signalled = nextSignal();
  const service = await startService(signalled);
  void signalled.then(() => stopService(service)).then(() => process.exit(130));
  return {
    sandbox: service.sandbox,
    letGo: () =>
      step('Stopping', () => stopService(service).then(() => 'the sandbox that was started for this')),
  };
}

/** What is in sandbox.json; null when none runs. One that is booting just now is waited for. */
export async function findSandbox() {
  const file = join(dataDir(), 'sandbox.json');
  const deadline = performance.now() + BOOT_TIMEOUT_MS;
  for (;;) {
    const holder = holderOf(join(dataDir(), 'service.pid'));
    if (holder === null) return null;
    if (existsSync(file)) {
      const sandbox = JSON.parse(readFileSync(file, 'utf8'));
      const response = await fetch(`${sandbox.base_url}/health/ready`, {
        signal: AbortSignal.timeout(5000),
      }).catch(() => null);
      if (response?.ok) return sandbox;
    }
    if (performance.now() > deadline) {
      throw new Problem(
        `The sandbox in ${dataDir()} (process ${holder}) runs, but it is not ready: see service.log there.`,
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

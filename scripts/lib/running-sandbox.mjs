// Finds the sandbox that runs in DATA_DIR, or starts one.
import { constants } from 'node:os';
import { findSandbox } from '../../packages/cli/src/running-sandbox.mjs';
import { build } from './installation.mjs';
import { dataDir, nextSignal, startService, stopService } from './service.mjs';
import { dim, printLine, step } from './terminal.mjs';

/**
 * Returns what is in sandbox.json, and how to let go: stops the sandbox only when it was started here, and then says what
 * its links need.
 */
export async function useSandbox() {
  const running = await findSandbox(dataDir());
  if (running) {
    await step('Sandbox', async () => `running at ${running.base_url}`);
    return { sandbox: running, letGo: async () => undefined };
  }
  await build();
  for (const name of ['PORT', 'WIDGET_PORT', 'PAY_PORT', 'ADMIN_PORT', 'PORTAL_PORT', 'METRICS_PORT'])
    process.env[name] ??= '0';
  const signalled = nextSignal();
  const service = await startService(signalled);
  void signalled.then(async (signal) => {
    await stopService(service);
    process.exit(128 + constants.signals[signal]);
  });
  return {
    sandbox: service.sandbox,
    letGo: async () => {
      printLine();
      await step('Stopping', () => stopService(service).then(() => 'the sandbox that was started for this'));
      printLine(`  ${dim('Links work while the sandbox runs: npm start, then run the demo again')}`);
    },
  };
}

#!/usr/bin/env node
// npm run webhooks:listen: `disburse listen` (packages/cli) for the sandbox of this folder, once it is installed and built.
import { buildOnce } from './lib/installation.mjs';
import { dataDir } from './lib/service.mjs';
import { complain } from './lib/terminal.mjs';

try {
  await buildOnce();
  process.env.DATA_DIR = dataDir();
  const { runListen } = await import('../packages/cli/src/main.mjs');
  await runListen('npm run', 'webhooks:listen', process.argv.slice(2));
} catch (error) {
  complain(error);
}

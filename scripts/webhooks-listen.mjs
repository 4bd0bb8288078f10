#!/usr/bin/env node
// npm run webhooks:listen: `disburse listen` (packages/cli) for the sandbox of this folder, once it is installed and built.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build, install, requireNode, ROOT } from './lib/installation.mjs';
import { dataDir } from './lib/service.mjs';
import { complain, Problem } from './lib/terminal.mjs';

const CLIENT = join(ROOT, 'packages', 'sdk', 'dist', 'index.js');

try {
  requireNode();
  if (!existsSync(join(ROOT, 'node_modules', '@disburse', 'sdk'))) await install();
  if (!existsSync(CLIENT)) await build();
  process.env.DATA_DIR = dataDir();
  const { runListen } = await import('../packages/cli/src/main.mjs');
  await runListen('npm run', 'webhooks:listen', process.argv.slice(2));
} catch (error) {
  // Every failure is 1 here, as it was before there was a command line.
  complain(error.exitCode === undefined ? error : new Problem(error.message));
}

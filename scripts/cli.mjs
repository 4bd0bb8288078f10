#!/usr/bin/env node
// npm run merchant, user, payout, exchange, keys, audit, events, migrate, rebuild, subscriptions: an operator's program against the running sandbox, or the database of DATABASE_URL.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, install, requireNode, ROOT } from './lib/installation.mjs';
import { complain } from './lib/terminal.mjs';

const program = join(ROOT, 'dist', 'cli.js');

try {
  requireNode();
  if (!existsSync(program)) {
    await install();
    await build();
  }
  await import(pathToFileURL(program).href);
} catch (error) {
  complain(error);
}

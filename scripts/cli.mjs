#!/usr/bin/env node
// npm run merchant, user, payout, exchange, keys, audit, events, migrate, rebuild, subscriptions: an operator's program against the running sandbox, or the database of DATABASE_URL.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, install, ROOT } from './lib/installation.mjs';
import { complain, printOn } from './lib/terminal.mjs';

const program = join(ROOT, 'dist', 'cli.js');

try {
  if (!existsSync(program)) {
    // Standard output is for what the program prints.
    printOn(process.stderr);
    await install();
    await build();
  }
  await import(pathToFileURL(program).href);
} catch (error) {
  complain(error);
}

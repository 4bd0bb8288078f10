#!/usr/bin/env node
// npm run admin: a client of the admin API. npm run operator, exchange, keys, audit, events, migrate, rebuild: what needs the machine itself, against the running sandbox, or the database of DATABASE_URL.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, install, ROOT } from './lib/installation.mjs';
import { complain, printOn } from './lib/terminal.mjs';

const program = join(ROOT, 'dist', 'cli.js');
const [name, ...args] = process.argv.slice(2);

try {
  if (!existsSync(program)) {
    // Standard output is for what the program prints.
    printOn(process.stderr);
    await install();
    await build();
  }
  if (name === 'admin') {
    const { runAdmin } = await import('../packages/cli/src/admin/program.mjs');
    await runAdmin(args, 'npm run admin --');
  } else await import(pathToFileURL(program).href);
} catch (error) {
  complain(error);
}

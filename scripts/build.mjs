#!/usr/bin/env node
// Runs before commands that need the service or its clients: installs and builds when needed. Standard output is theirs.
import { build, install } from './lib/installation.mjs';
import { complain, printOn } from './lib/terminal.mjs';

printOn(process.stderr);
try {
  await install();
  await build();
} catch (error) {
  complain(error);
}

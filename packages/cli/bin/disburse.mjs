#!/usr/bin/env node
import { existsSync } from 'node:fs';
import '../src/require-node.cjs';

// A package has the bundle alone.
const SOURCE = '../src/main.mjs';
const program = existsSync(new URL(SOURCE, import.meta.url)) ? SOURCE : '../dist/main.mjs';
const { main } = await import(program).catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.message.includes('sdk')) throw error;
  process.stderr.write('\n  ✗ The client is not built yet: npm run build:sdk builds it.\n\n');
  return process.exit(69);
});
await main(process.argv.slice(2));

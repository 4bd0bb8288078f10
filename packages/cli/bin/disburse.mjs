#!/usr/bin/env node
import '../src/require-node.cjs';

const { main } = await import('../src/main.mjs').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.message.includes('sdk')) throw error;
  process.stderr.write('\n  ✗ The client is not built yet: npm run build:sdk builds it.\n\n');
  return process.exit(69);
});
await main(process.argv.slice(2));

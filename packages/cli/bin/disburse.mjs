#!/usr/bin/env node
const { main } = await import('../src/main.mjs').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.message.includes('sdk')) throw error;
  process.stderr.write(
    '\n  ✗ The client is not built yet. In the repository: npm ci, npm run build, npm run build:sdk.\n\n',
  );
  return process.exit(69);
});
await main(process.argv.slice(2));

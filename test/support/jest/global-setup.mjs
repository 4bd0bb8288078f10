import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PREFIX, sweepOrphans } from './test-run.mjs';

/**
 * Creates the folder of the run. A run of pure specs starts no server: the first spec that needs a database
 * or a chain starts it (postgres.ts, chain.ts).
 */
export default async function globalSetup() {
  await sweepOrphans();
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  // PostgreSQL may run as another user, who needs access to its folder below.
  chmodSync(folder, 0o711);
  writeFileSync(join(folder, 'run.pid'), String(process.pid));
  process.env.DISBURSE_TEST_RUN = folder;
}

import { equal } from 'node:assert/strict';
import { invoke } from './programs/cli.js';

/** Fails if `audit -- verify` finds a fault in the books of a suite. */
export async function expectAuditPasses(databaseUrl: string): Promise<void> {
  const { printed, exitCode } = await invoke('audit', { DATABASE_URL: databaseUrl }, 'verify');
  equal(exitCode === 2 ? printed : 'in order', 'in order');
}

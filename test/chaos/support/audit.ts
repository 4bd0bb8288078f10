import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Verdict } from './verdict.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MOST_BYTES = 64 * 1024 * 1024;

/** Runs `npm run audit -- verify` on the books of a database. The last line it printed. */
export async function runAudit(databaseUrl: string, verdict: Verdict): Promise<string> {
  const { status, printed } = await new Promise<{ status: unknown; printed: string }>((resolve) => {
    execFile(
      'npm',
      ['run', '--silent', 'audit', '--', 'verify'],
      {
        cwd: ROOT,
        env: { ...process.env, DATABASE_URL: databaseUrl },
        timeout: 600_000,
        maxBuffer: MOST_BYTES,
      },
      (error, stdout, stderr) =>
        resolve({ status: error === null ? 0 : error.code, printed: stdout + stderr }),
    );
  });
  verdict.equal(status, 0, `npm run audit -- verify\n${printed}`);
  return printed.trim().split('\n').at(-1) ?? '';
}

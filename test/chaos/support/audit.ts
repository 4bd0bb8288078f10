import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Verdict } from './verdict.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MAX_BYTES = 64 * 1024 * 1024;

/** What a verify of a database alone cannot know: whose keys those are, and what no head covers yet. */
const UNPROVEN =
  /^UNCHECKED (the keys of the ledger are not pinned|no signed head covers any event|whether each personal key)/;

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
        maxBuffer: MAX_BYTES,
      },
      (error, stdout, stderr) =>
        resolve({ status: error === null ? 0 : error.code, printed: stdout + stderr }),
    );
  });
  const unchecked = printed.split('\n').filter((line) => line.startsWith('UNCHECKED'));
  const isInOrder = status === 0 || (status === 1 && unchecked.length > 0);
  verdict.expect(
    isInOrder && unchecked.every((line) => UNPROVEN.test(line)),
    `npm run audit -- verify\n${printed}`,
  );
  return printed.trim().split('\n').at(-1) ?? '';
}

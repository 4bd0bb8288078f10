import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Sandbox } from './sandbox.js';
import type { Verdict } from './verdict.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs `npm run audit -- verify` on the sandbox's books. The last line it printed. */
export async function runAudit(sandbox: Sandbox, verdict: Verdict): Promise<string> {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'audit', '--', 'verify'], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, DATABASE_URL: sandbox.databaseUrl },
    timeout: 300_000,
  });
  verdict.equal(status, 0, `npm run audit -- verify\n${stdout}${stderr}`);
  return stdout.trim().split('\n').at(-1) ?? '';
}

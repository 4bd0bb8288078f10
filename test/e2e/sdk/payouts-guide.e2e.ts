import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { onTestApp } from '../../support/app.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const BLOCKS = /^```(ts|text)\n([\s\S]*?)^```/gm;

const app = onTestApp();

/** `…` is for what differs from run to run. */
function pattern(expected: string): RegExp {
  const parts = expected.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}

/** A folder in which the guide's program finds the keys of the sandbox and the client. */
async function workshop(): Promise<string> {
  const folder = await mkdtemp(join(process.env['DISBURSE_TEST_RUN'] ?? tmpdir(), 'guide-'));
  const { apiKey: api_key, privateKey: private_key } = app.merchant.credentials;
  await mkdir(join(folder, '.sandbox'));
  const sandbox = { base_url: app.url, merchant: { api_key, private_key } };
  await writeFile(join(folder, '.sandbox/sandbox.json'), JSON.stringify(sandbox));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const paths = { '@disburse/sdk': [join(ROOT, 'packages/sdk/src/index.ts')] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { paths } }));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  return folder;
}

it('the guide of users and payouts prints what it says, block by block', async () => {
  const guide = await readFile(join(ROOT, 'docs/payouts.md'), 'utf8');
  const blocks = [...guide.matchAll(BLOCKS)].map(([, kind, text]) => ({ kind, text: text! }));
  const folder = await workshop();
  await writeFile(
    join(folder, 'guide.ts'),
    blocks.flatMap(({ kind, text }) => (kind === 'ts' ? [text] : [])).join('\n'),
  );
  const run = promisify(execFile)(process.execPath, ['--import', 'tsx', 'guide.ts'], { cwd: folder });
  const { stdout } = await run;
  const expected = blocks.flatMap(({ kind, text }) => (kind === 'text' ? text.trimEnd().split('\n') : []));
  const printed = stdout.trimEnd().split('\n');
  expect(printed).toHaveLength(expected.length);
  expected.forEach((line, n) => expect(printed[n]).toMatch(pattern(line)));
});

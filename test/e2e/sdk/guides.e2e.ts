import { execFile } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { freePort } from '../../../sandbox/processes.js';
import { testApp } from '../../support/app.js';
import { sandboxFolderOf } from '../../support/http/listener.js';
import { specFolder } from '../../support/run-folder.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const GUIDES = ['payouts', 'webhooks', 'onboarding', 'exchange', 'inbound-events', 'portal'];
const COMPILER = {
  strict: true,
  noEmit: true,
  target: 'es2023',
  module: 'nodenext',
  types: ['node'],
  skipLibCheck: true,
};

const run = promisify(execFile);

function blocksOf(guide: string, language: 'ts' | 'text'): string {
  const text = readFileSync(join(ROOT, 'docs', `${guide}.md`), 'utf8');
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'));
  return [...blocks].map(([, block]) => block).join('\n');
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** `…` matches parts that differ from run to run. */
function fits(line: string, expected: string): boolean {
  const parts = expected.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(line);
}

// A separate service, because links to the pay page contain its port.
const payPort = await freePort();

const app = await testApp({ PAY_PORT: String(payPort) });
const folder = specFolder('guides');
cpSync(sandboxFolderOf(app), join(folder, '.sandbox'), { recursive: true });
symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER }));
for (const guide of GUIDES) writeFileSync(join(folder, `${guide}.ts`), blocksOf(guide, 'ts'));

describe('the guides for merchants', () => {
  it('compile as programs', async () => {
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [compiler], { cwd: folder }).catch(
      (error: { readonly stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });

  it.each(GUIDES)('%s prints what it documents', async (guide) => {
    const { stdout } = await run(process.execPath, ['--import', 'tsx', `${guide}.ts`], { cwd: folder });
    const expected = linesOf(blocksOf(guide, 'text'));
    const printed = linesOf(stdout).map((line, n) => (fits(line, expected[n] ?? '') ? expected[n] : line));
    expect(printed).toEqual(expected);
  });
});

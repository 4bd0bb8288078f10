import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import { specFolder } from '../support/run-folder.js';

const PROGRAM = resolve('scripts/docs/sources.mjs');
const run = (cwd: string, ...args: string[]) => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { cwd, encoding: 'utf8' });
  return { status, stderr };
};

it('every document was reviewed after the last change of the sources that it names', () => {
  expect(run('.')).toEqual({ status: 0, stderr: '' });
});

it('a document whose source changed is reported until the document is marked as reviewed', () => {
  const folder = specFolder('document-sources');
  for (const name of ['docs', 'src']) mkdirSync(join(folder, name));
  const source = (text: string) => writeFileSync(join(folder, 'src/a.ts'), text);
  writeFileSync(join(folder, 'docs/keys.md'), '---\nsources:\n  - src/a.ts\n---\n\n# Guide\n');
  writeFileSync(join(folder, 'docs/limits.md'), '# Other\n');
  source('export const days = 3;\n');
  expect(run(folder)).toMatchObject({ status: 1, stderr: expect.stringContaining('keys') });
  expect(run(folder, '--reviewed')).toEqual({ status: 0, stderr: '' });
  expect(run(folder)).toEqual({ status: 0, stderr: '' });
  source('/** Of the window. */\nexport const days = 3;\n');
  expect(run(folder).status).toBe(0);
  source('export const days = 4;\n');
  expect(run(folder)).toMatchObject({ status: 1, stderr: expect.stringContaining('src/a.ts') });
  run(folder, '--reviewed', 'limits');
  expect(run(folder).status).toBe(1);
  run(folder, '--reviewed', 'keys');
  expect(run(folder).status).toBe(0);
});

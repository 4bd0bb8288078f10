import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { specFolder } from '../../test/support/run-folder.js';

const here = import.meta.dirname;

it('the recorded cases are those that the generator writes', () => {
  const written = join(specFolder('cases'), 'cases.json');
  execFileSync(process.execPath, [join(here, 'generate.mjs'), written, '--without-openssl']);
  expect(readFileSync(written, 'utf8')).toBe(readFileSync(join(here, 'cases.json'), 'utf8'));
});

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { pythonOf } from '../../test/support/programs/python.js';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const CASES = JSON.parse(readFileSync(here('../cases/cases.json'), 'utf8')) as Record<
  string,
  readonly { readonly name: string }[]
>;

const python = pythonOf();
/** Where there is no Python of these versions, Node alone must do. */
const given = python === null ? it.skip : it;

describe('the Python client', () => {
  given('passes its tests, and every recorded case', async () => {
    const args = ['-W', 'error::ResourceWarning', '-m', 'unittest', 'discover', '-s', here('tests')];
    const { stdout } = await promisify(execFile)(python!.path, args, { env: python!.env });
    const passed = stdout.split('\n').filter((line) => line.startsWith('case '));
    const all = Object.entries(CASES).flatMap(([kind, each]) =>
      each.map(({ name }) => `case ${kind}: ${name}`),
    );
    expect(passed.sort()).toEqual(all.sort());
    expect(all.length).toBeGreaterThanOrEqual(200);
  });
});

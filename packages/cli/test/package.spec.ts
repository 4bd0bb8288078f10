import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { specFolder } from '../../../test/support/run-folder.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

it('the package installs alone in an empty folder, without a registry, and runs', async () => {
  const cwd = specFolder('project');
  const env = { ...process.env, npm_config_cache: join(cwd, 'cache'), npm_config_offline: 'true' };
  const run = async (program: string, ...args: string[]): Promise<string> =>
    (await promisify(execFile)(program, args, { cwd, env })).stdout;
  const file = (await run('npm', 'pack', '-s', PACKAGE)).trim();
  await run('npm', 'install', '--no-audit', '--no-fund', `./${file}`);
  const lock = JSON.parse(readFileSync(join(cwd, 'node_modules', '.package-lock.json'), 'utf8')) as {
    readonly packages: object;
  };
  expect(Object.keys(lock.packages)).toEqual(['node_modules/@disburse/cli']);
  expect(await run('npx', '--no-install', 'disburse', '--help')).toContain('Usage: disburse <command>');
  expect(await run('npx', '--no-install', 'disburse', 'listen', '--help')).toContain('--forward');
  const licences = readFileSync(join(cwd, 'node_modules/@disburse/cli/dist/licences.txt'), 'utf8');
  for (const name of ['commander', 'openapi-fetch', 'standardwebhooks'])
    expect(licences).toMatch(new RegExp(`^${name} [\\d.]+ MIT$`, 'm'));
  expect(licences).toContain('The above copyright notice');
});

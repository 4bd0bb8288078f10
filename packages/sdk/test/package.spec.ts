import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { specFolder } from '../../../test/support/run-folder.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const run = promisify(execFile);

it('the package resolves, with types, in every kind of module resolution', async () => {
  const folder = specFolder('packed');
  const env = { ...process.env, npm_config_cache: join(folder, 'cache'), npm_config_offline: 'true' };
  const packed = await run('npm', ['pack', '-s', PACKAGE], { cwd: folder, env });
  const file = join(folder, packed.stdout.trim());
  const tool = (name: string): string => join(PACKAGE, '../../node_modules', name);
  const attw = [
    tool('@arethetypeswrong/cli/dist/index.js'),
    '--no-definitely-typed',
    '--format',
    'json',
    file,
  ];
  const types = await run(process.execPath, attw, { env });
  expect(JSON.parse(types.stdout)).toMatchObject({ analysis: { types: { kind: 'included' } }, problems: {} });
  await run(process.execPath, [tool('publint/src/cli.js'), '--strict', file], { env });
});

it('a CommonJS program gets a separate copy of the package', () => {
  expect(require.resolve('@disburse/sdk')).toMatch(/[\\/]dist[\\/]cjs[\\/]index\.js$/);
  const { Disburse } = require('@disburse/sdk') as typeof import('../src/index.js');
  const client = new Disburse({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k', privateKey: 'p' });
  expect(client.users.get).toBeInstanceOf(Function);
});

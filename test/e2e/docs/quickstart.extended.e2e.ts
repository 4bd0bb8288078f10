import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { onTestApp } from '../../support/app.js';
import { bash } from '../../support/programs/guide.js';
import { systemProgram } from '../../support/programs/system-program.js';
import { specFolder } from '../../support/run-folder.js';

const guide = readFileSync('docs/quickstart.md', 'utf8');
const block = (language: string): string =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(guide)![1]!;

describe('docs/quickstart.md, pasted into a folder with the keys of a sandbox,', () => {
  const app = onTestApp();
  let folder: string;

  beforeAll(() => {
    folder = specFolder('quickstart');
    mkdirSync(join(folder, '.sandbox'));
    const { apiKey: api_key, privateKey: private_key } = app.merchant.credentials;
    const exchange = { api_key: app.exchange.signing.credentials.apiKey, secret: 'unused' };
    const sandbox = { base_url: app.url, merchant: { api_key, private_key }, exchange };
    writeFileSync(join(folder, '.sandbox', 'sandbox.json'), JSON.stringify(sandbox));
    for (const name of ['node_modules', 'packages']) symlinkSync(resolve(name), join(folder, name));
    writeFileSync(join(folder, 'quickstart.mjs'), block('js'));
    writeFileSync(join(folder, 'quickstart.py'), block('python'));
  });

  it('prints a verified webhook', async () => {
    const ran = await bash(`${block('bash')}\nnode quickstart.mjs`, folder);
    expect(ran).toEqual({ said: block('text'), errors: '', code: 0 });
  });

  (systemProgram('python3') === null ? it.skip : it)('prints the same with Python', async () => {
    const command = /`(PYTHONPATH=\S+ python3 quickstart\.py)`/.exec(guide)![1]!;
    const ran = await bash(`${block('bash')}\n${command}`, folder);
    expect(ran).toEqual({ said: block('text'), errors: '', code: 0 });
  });
});

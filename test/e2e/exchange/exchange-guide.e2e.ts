import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { onTestApp } from '../../support/app.js';
import { bash, commandsOf } from '../../support/programs/guide.js';
import { sandboxFolderOf } from '../../support/http/listener.js';
import { specFolder } from '../../support/run-folder.js';
import { systemProgram } from '../../support/programs/system-program.js';

const missing = ['bash', 'curl', 'openssl'].filter((each) => systemProgram(each) === null);

(missing.length > 0 ? describe.skip : describe)('the commands of docs/exchange.md', () => {
  const app = onTestApp();

  it('do what it says, one after the other, pasted into a shell', async () => {
    const folder = specFolder('guide');
    renameSync(sandboxFolderOf(app), join(folder, '.sandbox'));
    const { said, errors, code } = await bash(commandsOf('exchange.md'), folder);
    expect([code, errors]).toEqual([0, '']);
    expect(said.match(/^\d{3}$/gm)).toEqual(['200', '201', '200', '200', '200', '409', '200', '200']);
    expect(said).toContain('"pair_ids":["USDCSOL"]');
    expect(said).toContain('"total_count":1,"orders":[{"id":');
    expect(said).toMatch(/"signed_url":"http:[^"]+url_signature=[0-9a-f]{64}"/);
  });
});

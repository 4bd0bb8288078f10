import { describe, expect, it } from '@jest/globals';
import { renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../sandbox/processes.js';
import { onTestApp } from '../../support/app.js';
import { bash, commandsOf } from '../../support/programs/guide.js';
import { sandboxFolderOf } from '../../support/http/listener.js';
import { specFolder } from '../../support/run-folder.js';
import { systemProgram } from '../../support/programs/system-program.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const missing = ['bash', 'curl', 'openssl', 'python3'].filter((each) => systemProgram(each) === null);

(missing.length > 0 ? describe.skip : describe)('the commands of docs/webhooks.md', () => {
  const app = onTestApp();

  it('do what it says, one after the other, pasted into a shell', async () => {
    const folder = specFolder('guide');
    renameSync(sandboxFolderOf(app), join(folder, '.sandbox'));
    symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'));
    const port = String(await freePort());
    const script = commandsOf('webhooks.md')
      .replaceAll('8080', port)
      // People wait a second or two; a loaded machine may need more, and an idle one less.
      .replace('sleep 1;', `until curl -so /dev/null 127.0.0.1:${port}; do sleep 0.1; done;`)
      .replace(
        'sleep 2;',
        'until api GET "/webhook_endpoints/$endpoint/deliveries" | grep -q succeeded; do sleep 0.1; done;',
      );
    const { said, errors, code } = await bash(script, folder);
    expect([code, errors]).toEqual([0, '']);
    expect(said).not.toContain('"about:blank"');
    for (const field of ['signing_secret', 'failure_count', 'next_cursor', 'attempts', 'webhook_recovery'])
      expect(said).toContain(`"${field}"`);
    expect(said).toMatch(/^204 \S{36} \{"id":/m);
  });
});

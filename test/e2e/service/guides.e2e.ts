import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { freePort } from '../../../sandbox/processes.js';
import { onTestApp } from '../../support/app.js';
import { sandboxFolderOf } from '../../support/http/listener.js';
import { bash, commandsOf, statementsOf } from '../../support/programs/guide.js';
import { systemProgram } from '../../support/programs/system-program.js';
import { specFolder } from '../../support/run-folder.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const missing = ['bash', 'curl', 'openssl', 'python3'].filter((each) => systemProgram(each) === null);

/** People wait a second or two between commands; a loaded machine may need more, and an idle one less. */
(missing.length > 0 ? describe.skip : describe)('the commands of the guides, pasted into a shell', () => {
  const app = onTestApp();

  /** What they print. In place of the port 8080 there is another. */
  const said = async (
    guide: string,
    port = '8080',
    ...waits: [pause: string, condition: string][]
  ): Promise<string> => {
    const folder = specFolder('guide');
    cpSync(sandboxFolderOf(app), join(folder, '.sandbox'), { recursive: true });
    symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'));
    const script = waits.reduce(
      (text, [pause, condition]) => text.replace(pause, `until ${condition}; do sleep 0.1; done;`),
      commandsOf(guide).replaceAll('8080', port),
    );
    const { said, errors, code } = await bash(script, folder);
    expect([code, errors]).toEqual([0, '']);
    return said;
  };

  it('do what docs/exchange.md says', async () => {
    const text = await said('exchange.md');
    expect(text.match(/^\d{3}$/gm)).toEqual(['200', '201', '200', '200', '200', '409', '200', '200']);
    expect(text).toContain('"pair_ids":["USDCSOL"]');
    expect(text).toContain('"total_count":1,"orders":[{"id":');
    expect(text).toMatch(/"signed_url":"http:[^"]+url_signature=[0-9a-f]{64}"/);
  });

  it('do what docs/inbound-events.md says, whose queries run', async () => {
    const text = await said('inbound-events.md', undefined, [
      'sleep 1;',
      'api GET "/users/$user/events" | grep -q checkout',
    ]);
    expect(text.match(/^\d{3}$/gm)).toEqual(['202', '400', '202', '202', '202', '200', '200']);
    expect(text).toContain('events[0].event_name is required');
    const [journey, filtered] = [...text.matchAll(/^\{"events".*$/gm)].map(
      ([page]) => JSON.parse(page) as { events: { event_name: string; payload: object }[] },
    );
    expect(journey!.events.map(({ event_name }) => event_name)).toEqual(['checkout', 'cart opened']);
    expect(text).toContain('{"items": 2, "total": 19.90}');
    expect(filtered!.events).toHaveLength(1);
    for (const statement of statementsOf('inbound-events.md'))
      await app.database.query(statement.replaceAll("'...'", "'018f4a6e-7c1b-4a2b-8b0e-1f2a3b4c5d6e'"));
  });

  it('do what docs/webhooks.md says', async () => {
    const port = String(await freePort());
    const text = await said(
      'webhooks.md',
      port,
      ['sleep 1;', `curl -so /dev/null 127.0.0.1:${port}`],
      ['sleep 2;', 'api GET "/webhook_endpoints/$endpoint/deliveries" | grep -q succeeded'],
    );
    expect(text).not.toContain('"about:blank"');
    for (const field of ['signing_secret', 'failure_count', 'next_cursor', 'attempts', 'webhook_recovery'])
      expect(text).toContain(`"${field}"`);
    expect(text).toMatch(/^204 \S{36} \{"id":/m);
  });
});

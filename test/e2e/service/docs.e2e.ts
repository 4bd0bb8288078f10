import { cpSync, renameSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { freePort } from '../../../sandbox/processes.js';
import { onTestApp } from '../../support/app.js';
import { bash, commandsIn, commandsOf, statementsOf } from '../../support/programs/guide.js';
import { sandboxFolderOf } from '../../support/http/listener.js';
import { specFolder } from '../../support/run-folder.js';
import { systemProgram } from '../../support/programs/system-program.js';

const missing = ['bash', 'curl', 'openssl', 'python3'].filter((each) => systemProgram(each) === null);

const app = onTestApp();

(missing.length > 0 ? describe.skip : describe)('commands, pasted into a shell that knows nothing,', () => {
  it('of README.md create a user, and print where the user signs up', async () => {
    const folder = specFolder('readme');
    renameSync(sandboxFolderOf(app), join(folder, '.sandbox'));
    const { said, errors, code } = await bash(commandsOf('../README.md'), folder);
    expect([code, errors.includes('rror')]).toEqual([0, false]);
    expect(said).toMatch(/^HTTP\/1\.1 201 /);
    expect(said).toMatch(/"phone_number":"\+15550001234"/);
    expect(said).toContain(`/onboarding?merchant_id=${app.merchant.credentials.apiKey}&user_id=<id>`);
  }, 60_000);

  it('of the API reference create a user, make an order and list it', async () => {
    const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as {
      info: { description: string };
    };
    const { apiKey, privateKey } = app.merchant.credentials;
    const exchange = app.exchange.signing.credentials;
    const script = commandsIn(document.info.description)
      .replace('http://127.0.0.1:3000', app.url)
      .replace('<svc-api-key>', apiKey)
      .replace('<private key>', privateKey)
      .replace('<api_key>', exchange.apiKey)
      .replace('<secret>', exchange.secret);
    const { said, errors, code } = await bash(script.replaceAll('curl ', 'curl -sS '), specFolder('docs'));
    expect([code, errors]).toEqual([0, '']);
    const [user, created, list] = said.split(/(?<=\})(?=\{)/).map((each) => JSON.parse(each) as object);
    expect(user).toMatchObject({ user: { phone_number: '+14155550100' } });
    const { order } = created as { order: object };
    expect(list).toEqual({ total_count: 1, orders: [order], next_cursor: null });
  }, 60_000);

  /**
   * What the commands of a guide print. In place of the port 8080 there is another. People wait a second or two between
   * commands; a loaded machine may need more, and an idle one less.
   */
  const said = async (
    guide: string,
    port = '8080',
    ...waits: [pause: string, condition: string][]
  ): Promise<string> => {
    const folder = specFolder('guide');
    cpSync(sandboxFolderOf(app), join(folder, '.sandbox'), { recursive: true });
    symlinkSync(resolve('examples'), join(folder, 'examples'));
    const script = waits.reduce(
      (text, [pause, condition]) => text.replace(pause, `until ${condition}; do sleep 0.1; done;`),
      commandsOf(guide).replaceAll('8080', port),
    );
    const { said, errors, code } = await bash(script, folder);
    expect([code, errors]).toEqual([0, '']);
    return said;
  };

  it('of docs/exchange.md do what it says', async () => {
    const text = await said('exchange.md');
    expect(text.match(/^\d{3}$/gm)).toEqual(['200', '201', '200', '200', '200', '409', '200', '200']);
    expect(text).toContain('"pair_ids":["USDCSOL"]');
    expect(text).toContain('"total_count":1,"orders":[{"id":');
    expect(text).toMatch(/"signed_url":"http:[^"]+url_signature=[0-9a-f]{64}"/);
  });

  it('of docs/inbound-events.md do what it says, and its queries run', async () => {
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

  it('of docs/webhooks.md do what it says', async () => {
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

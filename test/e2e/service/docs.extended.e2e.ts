import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { testApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { bash, commandsIn, commandsOf, statementsOf } from '../../support/programs/guide.js';
import { TestProcess } from '../../support/programs/test-process.js';
import { sandboxFolderOf } from '../../support/http/listener.js';
import { specFolder } from '../../support/run-folder.js';
import { systemProgram } from '../../support/programs/system-program.js';
import { sdkClients } from '../../support/sdk-clients.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

const missing = ['bash', 'curl', 'openssl'].filter((each) => systemProgram(each) === null);

const app = await testApp();

it('the program of README.md creates a user and prints where the user signs up', async () => {
  const folder = specFolder('readme-node');
  renameSync(sandboxFolderOf(app), join(folder, '.sandbox'));
  const [, program] = /```js\n([\s\S]*?)```/.exec(readFileSync('README.md', 'utf8'))!;
  writeFileSync(join(folder, 'signed.mjs'), program!);
  const client = new TestProcess(process.execPath, ['signed.mjs'], { cwd: folder });
  expect([await client.ended, client.errors]).toEqual([0, '']);
  const { output } = client;
  expect(output).toMatch(/^201 [^]*phone_number: '\+15550001235'/);
  const [, id] = /id: '([^']+)'/.exec(output)!;
  expect(output).toContain(`/onboarding?merchant_id=${app.merchant.credentials.apiKey}&user_id=${id}\n`);
});

(missing.length > 0 ? describe.skip : describe)('commands, pasted into a new shell,', () => {
  it('the commands of the API reference create a user, create an order and list the order', async () => {
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
    const { output, errors, code } = await bash(script.replaceAll('curl ', 'curl -sS '), specFolder('docs'));
    expect([code, errors]).toEqual([0, '']);
    const [user, created, list] = output.split(/(?<=\})(?=\{)/).map((each) => JSON.parse(each) as object);
    expect(user).toMatchObject({ user: { phone_number: '+14155550100' } });
    const { order } = created as { order: object };
    expect(list).toEqual({ total_count: 1, orders: [order], next_cursor: null });
  }, 60_000);

  it('the commands of docs/signing.md sign requests as documented and verify a received delivery', async () => {
    const folder = specFolder('signing');
    renameSync(sandboxFolderOf(app), join(folder, '.sandbox'));
    const receiver = await TestReceiver.start();
    try {
      const { merchant } = sdkClients(app);
      const { webhook_endpoint } = (
        await merchant.webhookEndpoints.register({ webhook_endpoint: { url: receiver.url } })
      ).data;
      await merchant.webhookEndpoints.test(webhook_endpoint.id);
      const { headers, body } = await eventually(() => receiver.received[0]);
      writeFileSync(join(folder, 'body'), body);
      const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
      const verify = `signature_of '${webhook_endpoint.signing_secret}' ${id} ${timestamp} < body`;
      const { output, errors, code } = await bash(`${commandsOf('signing.md')}\n${verify}`, folder);
      expect([code, errors]).toEqual([0, '']);
      expect(output.match(/^\d{3}$/gm)).toEqual(['201', '200', '201', '200', '200', '200', '401']);
      expect(output).toContain('"total_count":1,"orders":[{"id":');
      expect(output).toMatch(/"signed_url":"http:[^"]+url_signature=[0-9a-f]{64}"/);
      expect(output).toContain('StringToSignBytes (hex, space-separated, lower-case):');
      expect(output.match(/^v1,.*$/gm)).toEqual([
        'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
        signature,
      ]);
    } finally {
      await receiver.stop();
    }
  }, 60_000);
});

describe('docs/quickstart.md, pasted into a folder with the keys of a sandbox,', () => {
  const guide = readFileSync('docs/quickstart.md', 'utf8');
  const block = (language: string): string =>
    new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(guide)![1]!;
  const python = /`(PYTHONPATH=\S+ python3 quickstart\.py)`/.exec(guide)![1]!;

  describe.each([
    ['js', 'bash', 'node quickstart.mjs'],
    ['python', 'python3', python],
  ])('%s', (language, program, command) => {
    (systemProgram(program) === null ? it.skip : it)('prints a verified webhook', async () => {
      const folder = specFolder('quickstart');
      renameSync(sandboxFolderOf(app), join(folder, '.sandbox'));
      for (const name of ['node_modules', 'packages']) symlinkSync(resolve(name), join(folder, name));
      writeFileSync(join(folder, language === 'js' ? 'quickstart.mjs' : 'quickstart.py'), block(language));
      const ran = await bash(`${block('bash')}\n${command}`, folder);
      expect(ran).toEqual({ output: block('text'), errors: '', code: 0 });
    });
  });
});

describe('the queries of a runbook', () => {
  it.each(['inbound-events.md', 'webhooks.md'])('in docs/%s run without an error', async (guide) => {
    const statements = statementsOf(guide);
    expect(statements.length).toBeGreaterThan(3);
    for (const statement of statements)
      await app.database.query(statement.replaceAll("'...'", "'018f4a6e-7c1b-4a2b-8b0e-1f2a3b4c5d6e'"));
  });
});

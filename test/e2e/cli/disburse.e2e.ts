import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { Listener, sandboxFolderOf } from '../../support/http/listener.js';
import { PortalBrowser } from '../../support/http/portal-browser.js';
import { Disburse, DISBURSE, expectEnd } from '../../support/programs/disburse.js';
import { createPayee, reported } from '../../support/payouts/payout-calls.js';
import { specFolder } from '../../support/run-folder.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

const ENDPOINTS = '/merchants/v1/webhook_endpoints';

const app = await sharedApp();
const dataDir = sandboxFolderOf(app);
const XDG_CONFIG_HOME = specFolder('config');
const disburse = new Disburse({ DATA_DIR: dataDir, XDG_CONFIG_HOME });
const keyless = new Disburse({ DATA_DIR: specFolder('no-sandbox'), XDG_CONFIG_HOME });
const payee = await createPayee(app.merchant);
const payouts: string[] = [];
for (let count = 0; count < 3; count += 1) payouts.unshift((await reported(app.merchant, payee.id)).id);

describe('disburse', () => {
  const started: Listener[] = [];

  afterEach(async () => {
    await Promise.all(started.splice(0).map((each) => each.end('SIGINT')));
  });

  it('listen forwards deliveries byte for byte and prints the status of the response', async () => {
    const application = await TestReceiver.start();
    application.respondWith(201);
    const listener = new Listener(dataDir, ['listen', '--forward', `${application.url}/hooks`], [DISBURSE]);
    started.push(listener);
    await listener.ready();
    const run = await disburse.run('trigger', 'webhook_endpoint.test', '--json');
    expect(run.lines()).toMatchObject([{ deliveries: [{ http_status: 201 }] }]);
    const [{ path, body, headers }] = application.received as [(typeof application.received)[number]];
    expect([path, headers['user-agent']]).toEqual(['/hooks', 'svc-Webhooks/1.0']);
    expect(body).toContain(headers['webhook-id']);
    await listener.says(`→ ${application.url}/hooks responded in`);
    expect(listener.output).toMatch(/response 201\n/);
    await application.stop();
  });

  it('payouts list and payouts get work with keys, or with only a session of disburse login', async () => {
    const listed = await disburse.run('payouts', 'list', '--json', '--limit', '2');
    expect([listed.code, listed.lines<{ id: string }>().map(({ id }) => id)]).toEqual([
      0,
      payouts.slice(0, 2),
    ]);
    expect((await disburse.run('payouts', 'list')).output).toContain(`${payouts[2]}  pending `);
    expect((await disburse.run('payouts', 'list', '--status', 'expired')).output).toBe('No payouts.\n');
    const { transaction_hash } = (await disburse.run('payouts', 'get', payouts[1]!, '--json')).lines()[0]!;
    const found = await disburse.run(
      ...['payouts', 'list', '--transaction-hash', String(transaction_hash), '--json'],
    );
    expect(found.lines()).toMatchObject([{ id: payouts[1] }]);

    const refused = await keyless.run('payouts', 'list');
    expectEnd(refused, 69, 'disburse login');
    const [session] = (await disburse.run('login', '--json')).lines<{ file: string }>();
    const file = join(disburse.folder('XDG_CONFIG_HOME'), 'disburse', 'session.json');
    expect(session).toMatchObject({ file, merchant: { id: app.merchant.credentials.apiKey } });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await keyless.run('payouts', 'list', '--json', '--limit', '3');
    expect(again.lines<{ id: string }>().map(({ id }) => id)).toEqual(payouts);
    const [payout] = (await keyless.run('payouts', 'get', payouts[0]!, '--json')).lines();
    expect(payout).toEqual((await disburse.run('payouts', 'get', payouts[0]!, '--json')).lines()[0]);

    expect((await keyless.run('logout')).output).toContain('The session has ended');
    expect((await keyless.run('payouts', 'list')).code).toBe(69);
  });

  it('events resend sends a delivery again', async () => {
    const receiver = await TestReceiver.start();
    await app.merchant.post(ENDPOINTS, { webhook_endpoint: { url: receiver.url } });
    const [triggered] = (await disburse.run('trigger', 'webhook_endpoint.test', '--json')).lines<{
      deliveries: { id: string }[];
    }>();
    const { id } = triggered!.deliveries[0]!;
    const run = await disburse.run('events', 'resend', id);
    expect([run.code, run.output]).toEqual([0, expect.stringContaining(`${id} is pending again`)]);
    const sent = () => receiver.received.filter(({ headers }) => headers['webhook-id'] === id);
    await eventually(() => sent().length === 2);
    const unknown = await disburse.run('events', 'resend', payouts[0]!);
    expectEnd(unknown, 1, 'not found (404). Request id: ');
    await receiver.stop();
  });

  it('logs tail prints earlier requests, then new ones, and ends its session', async () => {
    const former = await disburse.run('logs', 'tail', '--no-follow', '--lines', '1', '--json');
    expect(former.lines()).toMatchObject([{ merchant_id: app.merchant.credentials.apiKey }]);
    const tail = disburse.start('logs', 'tail', '--lines', '0', '--status', '422', '--every', '100ms');
    await eventually(async () => {
      await app.merchant.post('/merchants/v1/users', { phone_number: 'none' });
      return tail.output.includes('422  POST   /merchants/v1/users');
    });
    const lines = tail.output.split('\n').slice(0, -1);
    expect(new Set(lines).size).toBe(lines.length);
    expect([await tail.end('SIGINT'), tail.errors]).toEqual([0, '']);
    const sessions = (await app.merchant.get('/merchants/v1/portal_sessions')).json<{
      portal_sessions: { status: string }[];
    }>();
    expect(sessions.portal_sessions.map(({ status }) => status)).not.toContain('active');
  });

  it('logs tail continues after an outage of the service and ends with the session', async () => {
    const portal = await TestReceiver.start();
    const requestOf = (request_id: string): object => ({
      ...{ request_id, at: new Date().toISOString(), method: 'GET', path: '/merchants/v1/payouts' },
      ...{ status: 200, duration_ms: 3, refusal: null },
    });
    const responses: readonly [number, object][] = [
      [200, { requests: [requestOf('first')], next_cursor: null }],
      [503, { title: 'Service Unavailable', detail: 'The service is starting' }],
      [503, { title: 'Service Unavailable', detail: 'The service is starting' }],
      [200, { requests: [requestOf('second'), requestOf('first')], next_cursor: null }],
      [401, { title: 'Invalid session', detail: 'The session has ended' }],
    ];
    portal.behavior = (response) => {
      const [status, body] = responses[Math.min(portal.received.length, responses.length) - 1]!;
      response.writeHead(status).end(JSON.stringify(body));
    };
    const config = specFolder('config');
    mkdirSync(join(config, 'disburse'));
    const session = { portalUrl: portal.url, cookie: 'session=x' };
    writeFileSync(join(config, 'disburse', 'session.json'), JSON.stringify(session));
    const run = await keyless
      .with({ XDG_CONFIG_HOME: config })
      .run('logs', 'tail', '--every', '10ms', '--json');
    expect(run.lines().map(({ request_id }) => request_id)).toEqual(['first', 'second']);
    expect(run.errors.match(/The service is starting/g)).toHaveLength(1);
    expect(run.errors).toContain('The service responds again.');
    expectEnd(run, 1, 'The session has ended');
    await portal.stop();
  });

  it('open prints a link that opens the portal', async () => {
    const { code, output } = await disburse.run('open');
    expect(code).toBe(0);
    const browser = await PortalBrowser.enter(output.split('\n')[0]!);
    expect((await browser.get('/api/v1/me')).status).toBe(200);
    const [opened] = (await disburse.run('open', '--json', '--scopes', 'payouts:read')).lines();
    expect(opened).toMatchObject({ portal_session: { scopes: ['payouts:read'] } });
  });

  it('exits with 1 for a refusal, with 2 for wrong usage and with 69 if there is no service', async () => {
    const { apiKey } = app.merchant.credentials;
    const keys = { DISBURSE_API_KEY: apiKey, DISBURSE_PRIVATE_KEY: 'wrong' };
    const stranger = await disburse.with({ ...keys, DISBURSE_BASE_URL: app.url }).run('payouts', 'list');
    expectEnd(stranger, 1, 'the private key is not that of this api key');
    const json = await disburse.run('payouts', 'get', apiKey, '--json');
    expect(JSON.parse(json.errors)).toMatchObject({ error: { status: 404, request_id: expect.any(String) } });
    const wrong = await disburse.run('payots');
    expectEnd(wrong, 2, 'Did you mean payouts?');
    expect((await disburse.run('payouts')).code).toBe(2);
    const nowhere = await disburse
      .with({ ...keys, DISBURSE_BASE_URL: 'http://127.0.0.1:1024' })
      .run('payouts', 'list');
    expectEnd(nowhere, 69, 'Is the service running there?');
  });

  it('prints help for itself and each command', async () => {
    const help = await disburse.run('--help');
    expect([help.code, help.errors]).toEqual([0, '']);
    for (const command of ['listen', 'trigger', 'events', 'payouts', 'logs', 'open', 'login', 'logout']) {
      expect(help.output).toMatch(new RegExp(`^  ${command} `, 'm'));
      const { code, output } = await disburse.run(command, '--help');
      expect([code, output]).toEqual([0, expect.stringContaining(`Usage: disburse ${command}`)]);
    }
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { EVENT_TYPES } from '../../../src/contexts/webhooks/endpoints/event-types.js';
import { sharedApp } from '../../support/app.js';
import { Listener, sandboxFolderOf } from '../../support/http/listener.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import { specFolder } from '../../support/run-folder.js';
import type { SignedClient } from '../../support/http/signed-client.js';
import { eventually } from '../../support/eventually.js';

const PATH = '/merchants/v1/webhook_endpoints';

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly event_types: string[] | null;
}

const app = await sharedApp();
const dataDir = sandboxFolderOf(app);

describe('npm run webhooks:listen', () => {
  const started: Listener[] = [];

  afterEach(async () => {
    await Promise.all(started.splice(0).map((each) => each.end('SIGINT')));
  });

  const listen = (...args: string[]): Listener => {
    const listener = new Listener(dataDir, args);
    started.push(listener);
    return listener;
  };
  const endpoints = async (client: SignedClient = app.merchant): Promise<Endpoint[]> =>
    (await client.get(PATH)).json<{ webhook_endpoints: Endpoint[] }>().webhook_endpoints;
  const test = async ({ id }: Endpoint): Promise<string> => {
    return (await app.merchant.post(`${PATH}/${id}/test_delivery`)).json().webhook_delivery.id;
  };

  it('registers an endpoint, verifies and prints deliveries, and deletes the endpoint when it ends', async () => {
    const listener = listen('--json');
    const url = await listener.ready();
    const [endpoint] = await endpoints();
    expect(endpoint).toMatchObject({ url, description: 'webhooks:listen' });
    expect([...endpoint!.event_types!].sort()).toEqual([...EVENT_TYPES].sort());
    const id = await test(endpoint!);
    const [printed] = await listener.printed(1);
    expect(printed).toMatchObject({ id, type: 'webhook_endpoint.test', attempt: 1, verified: true });
    expect(printed).toMatchObject({
      reason: null,
      status: 204,
      body: { id, merchant_id: expect.any(String) },
    });
    expect(await listener.end('SIGTERM')).toBe(0);
    expect(listener.errors).toContain('1 verified attempt.');
    expect(await endpoints()).toEqual([]);
  });

  it('prints the reason of each refusal, without colours if there is no terminal', async () => {
    const listener = listen('--test');
    const url = await listener.ready();
    await listener.says('"message": "This is a test delivery."');
    const forged = { type: 'payout.received', text: '\u001b]0;title\u0007\u009b31m\u202e' };
    const refusals: [Record<string, string>, string][] = [
      [{}, 'missing: webhook-id, webhook-timestamp, webhook-signature'],
      [{ 'webhook-timestamp': '1700000000' }, 'missing: webhook-id, webhook-signature'],
      [signed({ 'webhook-timestamp': '1700000000' }), 'days old; 5 min is the limit'],
      [signed({ 'webhook-timestamp': 'soon' }), 'webhook-timestamp is no number of seconds'],
      [signed({ 'webhook-signature': 'v2,abc' }), 'webhook-signature has no v1 entry'],
      [signed({}), 'no v1 entry of webhook-signature fits the secret and the body'],
    ];
    for (const [headers, reason] of refusals) {
      expect((await fetch(url, { method: 'POST', headers, body: JSON.stringify(forged) })).status).toBe(400);
      await listener.says(reason);
    }
    expect((await fetch(url, { method: 'POST', body: 'x'.repeat(1_048_577) })).status).toBe(413);
    expect((await fetch(url, { method: 'PUT', body: '{}' })).status).toBe(405);
    expect(await listener.end('SIGINT')).toBe(0);
    expect(listener.output).toContain('1 verified attempt, 6 refused.');
    // Only line feeds are allowed. Neither colours nor a stranger's text may control the terminal.
    expect(listener.text).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
    expect(listener.text).toContain('\\u009b31m\\u202e');
  });

  it('forwards deliveries byte for byte and responds as the application does', async () => {
    const application = await TestReceiver.start();
    application.respondWith(500, 200);
    const listener = listen('--json', '--forward', `${application.url}/hooks`);
    await listener.ready();
    const id = await test((await endpoints())[0]!);
    const printed = await listener.printed(2);
    expect(printed).toMatchObject([
      { id, attempt: 1, status: 500 },
      { id, attempt: 2, status: 200 },
    ]);
    const secret = /whsec_\S+/.exec(listener.errors)![0];
    for (const { path, headers, body } of application.received) {
      expect(path).toBe('/hooks');
      expect(headers).toMatchObject({ 'user-agent': 'svc-Webhooks/1.0', 'content-type': 'application/json' });
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ id });
    }
    await application.stop();
    await test((await endpoints())[0]!);
    expect((await listener.printed(3))[2]).toMatchObject({ status: 502, error: 'ECONNREFUSED' });
  });

  it('responds with the status of --status after the delay of --delay', async () => {
    const listener = listen('--json', '--status', '429', '--retry-after', '0', '--delay', '300');
    await listener.ready();
    const began = performance.now();
    const id = await test((await endpoints())[0]!);
    expect(await listener.printed(2)).toMatchObject([
      { id, attempt: 1, status: 429 },
      { id, attempt: 2, status: 429 },
    ]);
    expect(performance.now() - began).toBeGreaterThan(290);
  });

  it('registers only the event types of --types and prints no others', async () => {
    const listener = listen('--json', '--types', 'payout.failed,payout.received');
    await listener.ready();
    const [endpoint] = await endpoints();
    expect(endpoint!.event_types).toEqual(['payout.failed', 'payout.received']);
    await test(endpoint!);
    const arrived = "select 1 from webhooks.attempts where endpoint_id = $1 and outcome = 'succeeded'";
    await eventually(async () => (await app.database.query(arrived, [endpoint!.id]))[0] ?? null);
    expect(await listener.end('SIGINT')).toBe(0);
    expect(listener.output).toBe('');
  });

  it('deletes the endpoint of a killed listener, but not that of a running listener', async () => {
    const living = listen();
    await living.ready();
    const [kept] = await endpoints();
    const killed = listen();
    const left = await killed.ready();
    await killed.end('SIGKILL');
    expect((await endpoints()).map(({ url }) => url)).toEqual([kept!.url, left]);
    const next = listen();
    const url = await next.ready();
    expect(next.output).toContain('of an earlier run, deleted');
    expect((await endpoints()).map((each) => each.url)).toEqual([kept!.url, url]);
  });

  it('explains what to do if the merchant has ten endpoints already', async () => {
    const client = app.secondMerchant;
    const { apiKey, privateKey } = client.credentials;
    const keys = ['--url', app.url, '--api-key', apiKey, '--private-key', privateKey];
    for (let index = 0; index < 10; index += 1)
      await client.post(PATH, { webhook_endpoint: { url: `https://example.com/${index}` } });
    const refused = listen(...keys);
    expect(await refused.ended).toBe(1);
    const [first] = await endpoints(client);
    const sentence = refused.output.replace(/\s+/g, ' ');
    expect(sentence).toContain('has ten webhook endpoints, the most there may be');
    expect(sentence).toContain(`${first!.id} ${first!.url}`);
    expect(sentence).toContain('npm run webhooks:listen -- --remove <id>');
    const listener = listen(...keys, '--remove', first!.id);
    await listener.ready();
    expect(await endpoints(client)).toHaveLength(10);
    expect(await listener.end('SIGINT')).toBe(0);
    expect((await endpoints(client)).map(({ id }) => id)).not.toContain(first!.id);
  });

  it('prints that a sender hung up, and ends on SIGINT even while a response is delayed', async () => {
    const secret = newSecret();
    const listener = listen('--secret', secret, '--delay', '60000');
    const url = await listener.ready();
    const sent = (signal?: AbortSignal): Promise<unknown> =>
      fetch(url, { method: 'POST', headers: genuine(secret, '{}'), body: '{}', signal }).catch(() => null);
    const impatient = new AbortController();
    const given = sent(impatient.signal);
    await listener.says('m-1');
    impatient.abort();
    await given;
    await listener.says('m-1: the sender hung up after ');
    const waiting = sent();
    await listener.says('attempt 2');
    expect(await listener.end('SIGINT')).toBe(0);
    expect(await waiting).toBeNull();
  });

  it('registers no endpoint with --secret, and verifies with any of several secrets', async () => {
    const secrets = [newSecret(), newSecret()];
    const nowhere = new Listener(specFolder('no-sandbox'), [
      '--json',
      ...secrets.flatMap((each) => ['--secret', each]),
    ]);
    started.push(nowhere);
    const url = await nowhere.ready();
    const body = '{"type":"payout.received","n":12345678901234567890,\n "e":{ } }';
    for (const secret of secrets) {
      const headers = genuine(secret, body);
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(204);
    }
    expect(await nowhere.printed(2)).toMatchObject([{ attempt: 1 }, { attempt: 2, verified: true }]);
    expect(nowhere.output).toContain('"body":{"type":"payout.received","n":12345678901234567890,"e":{}}}\n');
    expect(await endpoints()).toEqual([]);
  });

  it.each([
    [['--types', 'payout.lost'], 'event_types', 1],
    [['--status', '99'], '--status must be a whole number from 200 to 599', 2],
    [['--forward', 'localhost:8080'], '--forward must be a URL that begins with http', 2],
    [['--secret', 'whsec_!'], '--secret must be whsec_ and base64', 2],
    [['--api-key', 'x'], '--api-key and --private-key belong together', 2],
    [['--sttaus', '500'], "Unknown option '--sttaus'", 2],
  ])('says what is wrong with %j', async (args, sentence, code) => {
    const listener = listen(...args);
    expect(await listener.ended).toBe(code);
    expect(listener.text.replace(/\s+/g, ' ')).toContain(sentence);
    expect(listener.text).not.toContain('    at ');
    expect(await endpoints()).toEqual([]);
  });

  it('prints that no sandbox is running, and prints its usage for --help', async () => {
    const lost = new Listener(specFolder('no-sandbox'), []);
    expect(await lost.ended).toBe(69);
    expect(lost.output).toContain('No sandbox is running');
    const help = new Listener(dataDir, ['--help']);
    expect(await help.ended).toBe(0);
    expect(help.output).toContain('--forward <url>');
  });
});

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Valid headers of a delivery, with a signature of a later version before the one that counts. */
function genuine(secret: string, body: string): Record<string, string> {
  const at = new Date();
  return {
    'webhook-id': 'm-1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': `v2,abc ${new Webhook(secret).sign('m-1', at, body)}`,
  };
}

/** Complete headers with an invalid signature. */
function signed(changed: Record<string, string>): Record<string, string> {
  return {
    'webhook-id': 'forged',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': 'v1,AAAA',
    ...changed,
  };
}

import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ReceiverHosts, Receivers } from '../../../src/contexts/webhooks/deliveries/receivers.service.js';
import type { SignedClient } from '../../support/http/signed-client.js';
import { BROKEN_TLS } from './hostile/broken-tls.js';
import { makeCertificates } from './hostile/certificates.js';
import { CONNECTIONS } from './hostile/connections.js';
import { ENDLESS } from './hostile/endless.js';
import { MALFORMED } from './hostile/malformed.js';
import type { Expected, HostileReceiver, Hosted } from './hostile/receiver.js';
import { SLOW } from './hostile/slow.js';
import { onWebhookHarness, type MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import type { HttpResult } from '../../../src/platform/outbound/outbound-request.js';
import { webhooksConfig } from '../../../src/contexts/webhooks/webhooks.config.js';

const ALL: readonly HostileReceiver[] = [...CONNECTIONS, ...SLOW, ...ENDLESS, ...MALFORMED, ...BROKEN_TLS];
const TIMEOUTS = ['connecting', 'waiting for a response', 'reading the response'].map(
  (stage) => `timed out after 4 s, ${stage}`,
);
const timesOut = ({ expected }: HostileReceiver): boolean =>
  expected.flat().some(({ error }) => TIMEOUTS.some((timeout) => error?.test(timeout)));
/** The timeout for receivers that hang; others have the 30 s of production. */
const HASTY_MS = 4000;
/** Far more than is read of any response, and than fits into the buffers of a loopback connection. */
const MAX_SENT = 24 * 1024 * 1024;
const HEADERS = { 'content-type': 'application/json', 'webhook-signature': 'v1,secret-signature' };
const BODY = JSON.stringify({ data: { note: 'secret-body', filler: 'x'.repeat(500) } });
const certificates = makeCertificates();

function fits(sent: HttpResult, { error, ...fields }: Expected): boolean {
  const isNoted = error === null ? sent.error === null : error.test(sent.error ?? '');
  return isNoted && Object.entries(fields).every(([name, value]) => Reflect.get(sent, name) === value);
}

/** Sends the expected number of deliveries. Returns each fault as a sentence. */
async function challenge(
  sender: Receivers,
  { expected }: HostileReceiver,
  hosted: Hosted,
): Promise<string[]> {
  const complaints: string[] = [];
  for (const [index, allowed] of expected.entries()) {
    // Unrequested bytes of a receiver have this time to arrive.
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, 100));
    const sent = await sender.post(hosted.url, HEADERS, BODY);
    if (!allowed.some((one) => fits(sent, one)))
      complaints.push(`delivery ${index + 1}: ${JSON.stringify({ ...sent, body: null })}`);
    if (/secret|127\.0\.0\.1/.test(sent.error ?? '')) complaints.push(`its error is too long: ${sent.error}`);
    if (sent.kind === 'response' && sent.body.length > 1024)
      complaints.push('more than 1 KiB of it was kept');
  }
  if (hosted.sent() > MAX_SENT) complaints.push(`${hosted.sent()} bytes of it were read`);
  for (const what of ['connections', 'requests'] as const)
    if (hosted[what] > expected.length) complaints.push(`it had ${hosted[what]} ${what}`);
  return complaints;
}

describe('a hostile receiver', () => {
  const hosts = new Map<HostileReceiver, Hosted>();
  const complaints = new Map<string, string[]>();

  beforeAll(async () => {
    // Trusts the authority, like a process with NODE_EXTRA_CA_CERTS.
    const create = tls.createSecureContext;
    const trusting = jest.spyOn(tls, 'createSecureContext');
    trusting.mockImplementation((options) => create({ ca: certificates.authority, ...options }));
    for (const kind of ALL) hosts.set(kind, await kind.start(certificates));
    const allowed = new ReceiverHosts(webhooksConfig({}));
    for (const [webhookTimeoutMs, kinds] of [
      [30_000, ALL.filter((kind) => !timesOut(kind))],
      [HASTY_MS, ALL.filter(timesOut)],
    ] as const) {
      const sender = new Receivers({ ...webhooksConfig({}), webhookTimeoutMs }, allowed);
      const one = async (kind: HostileReceiver): Promise<void> =>
        void complaints.set(kind.name, await challenge(sender, kind, hosts.get(kind)!));
      await Promise.all(kinds.map(one));
      await sender.close();
    }
    trusting.mockRestore();
  });
  afterAll(() => Promise.all([...hosts.values()].map((host) => host.stop())));

  it.each(ALL.map(({ name }) => name))('%s', (name) => expect(complaints.get(name)).toEqual([]));
});

describe('a delivery to a hostile receiver', () => {
  let merchant: SignedClient;
  let webhooks: MerchantWebhooks;
  onWebhookHarness((harness) => ({ merchant, webhooks } = harness));

  it.each([
    ['closes after the request', { error_class: 'send', response_excerpt: null }],
    [
      'resets within its response',
      {
        outcome: 'succeeded',
        http_status: 200,
        error_class: null,
        error: 'the connection was reset (ECONNRESET)',
        response_excerpt: 'half',
      },
    ],
    ['a self-signed certificate', { error_class: 'tls', response_excerpt: null }],
    ['endless chunks', { http_status: 200, response_excerpt: 'a'.repeat(1024) }],
  ])('%s: each attempt has an error class, or the first KiB of the response', async (name, expected) => {
    const hosted = await ALL.find((kind) => kind.name === name)!.start(certificates);
    const id = await webhooks.register(hosted.url);
    await webhooks.publish();
    const [delivery] = await webhooks.settled(id, 1);
    const response = await merchant.get(`/merchants/v1/webhook_deliveries/${delivery!.id}`);
    const { attempts } = response.json<{ webhook_delivery: { attempts: object[] } }>().webhook_delivery;
    expect(attempts).toHaveLength('http_status' in expected ? 1 : 4);
    for (const attempt of attempts) expect(attempt).toMatchObject(expected);
    await hosted.stop();
  });
});

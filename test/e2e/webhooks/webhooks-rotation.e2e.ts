import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { type TestApp, onTestApp } from '../../support/app.js';
import { onWebhookHarness, MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import { type Received, TestReceiver } from '../../support/webhooks/receiver.js';
import type { ApiResponse, SignedClient } from '../../support/http/signed-client.js';
import { eventually } from '../../support/eventually.js';
import { DeliveryProcessor } from '../../../src/contexts/webhooks/deliveries/deliveries.processor.js';
import { QueueBackend } from '../../../src/platform/jobs/queue-backend.js';
import { TestRedis } from '../../support/programs/redis.js';

const PATH = '/merchants/v1/webhook_endpoints';

interface Endpoint {
  readonly id: string;
  readonly updated_at: string;
  readonly signing_secret: string;
}

let app: TestApp;
let merchant: SignedClient;
let receiver: TestReceiver;
let webhooks: MerchantWebhooks;
onWebhookHarness((harness) => ({ app, merchant, receiver, webhooks } = harness));

const endpointIn = (response: ApiResponse) => response.json().webhook_endpoint;
const rotate = (id: string, body?: object | string, key?: string) =>
  merchant.post(`${PATH}/${id}/rotate_secret`, body, key);

const registered = async (): Promise<Endpoint> =>
  endpointIn(await merchant.post(PATH, { webhook_endpoint: { url: receiver.url } }));

/** Rotates the secret and returns the new one. */
async function rotated(id: string, body?: object): Promise<string> {
  const response = await rotate(id, body);
  expect(response.status).toBe(200);
  return endpointIn(response).signing_secret;
}

/** Requests a test delivery and returns it once it has arrived. */
async function delivery(id: string): Promise<Received> {
  const before = receiver.received.length;
  expect((await merchant.post(`${PATH}/${id}/test_delivery`)).status).toBe(202);
  return eventually(() => receiver.received[before] ?? null);
}

const entries = ({ headers }: Received) => String(headers['webhook-signature']).split(' ');

function verifies(secret: string, { headers, body }: Received): boolean {
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>) !== undefined;
  } catch {
    return false;
  }
}

describe('POST webhook_endpoints/{id}/rotate_secret', () => {
  it('200: returns a new secret, which no later response contains', async () => {
    const before = await registered();
    const response = await rotate(before.id);
    expect(response.status).toBe(200);
    const after = endpointIn(response);
    expect(after).toEqual({
      ...before,
      updated_at: after.updated_at,
      signing_secret: after.signing_secret,
    });
    expect(Object.keys(after)).toEqual(Object.keys(before));
    expect(after.signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(after.signing_secret).not.toBe(before.signing_secret);
    const found = await merchant.get(`${PATH}/${before.id}`);
    expect(found.text).not.toContain('secret');
    expect(endpointIn(found).updated_at).toBe(after.updated_at);
  });

  it('200: signs with both secrets for a day, with the new one first', async () => {
    const { id, signing_secret: former } = await registered();
    const fresh = await rotated(id);
    const sent = await delivery(id);
    expect([verifies(fresh, sent), verifies(former, sent)]).toEqual([true, true]);
    const [first, ...others] = entries(sent);
    expect(others).toHaveLength(1);
    const firstAlone = { ...sent, headers: { ...sent.headers, 'webhook-signature': first } };
    expect([verifies(fresh, firstAlone), verifies(former, firstAlone)]).toEqual([true, false]);
    const [snapshot] = await app.database.query<{ hours: number }>(
      `select extract(epoch from (former_secrets->0->>'expires_at')::timestamptz - now())::float8 / 3600 as hours
       from webhooks.endpoint_snapshots where endpoint_id = $1`,
      [id],
    );
    expect(snapshot!.hours).toBeCloseTo(24, 1);
  });

  it('409: refuses a fifth rotation while four former secrets are valid. 200: accepts overlap_seconds 0', async () => {
    const { id } = await registered();
    const responses = await Promise.all(Array.from({ length: 6 }, () => rotate(id)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 409, 409]);
    expect(entries(await delivery(id))).toHaveLength(5);
    const fresh = await rotated(id, { overlap_seconds: 0 });
    const next = await delivery(id);
    expect(verifies(fresh, next)).toBe(true);
    expect(entries(next)).toHaveLength(5);
  });
});

it('deliveries arrive signed, with the headers and the envelope of the contract', async () => {
  const id = await webhooks.register(receiver.url);
  await webhooks.publish();
  const [delivery] = await webhooks.settled(id, 1);
  expect(delivery).toMatchObject({ status: 'succeeded', attempt_count: 1 });
  const [sent] = receiver.received as [(typeof receiver.received)[0]];
  expect(sent.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'svc-Webhooks/1.0',
    'webhook-id': delivery!.id,
  });
  expect(webhooks.verifies(id, sent)).toBe(true);
  const { apiKey: merchant_id } = merchant.credentials;
  expect(JSON.parse(sent.body)).toMatchObject({ id: delivery!.id, type: 'payout.received', merchant_id });
  expect(sent.body).toContain('"custom_metadata":{ "a":1.0}}}');
});

const redis = await TestRedis.start();

describe.each<[string, Record<string, string> | null]>([
  ['PostgreSQL', {}],
  ['Redis', redis && { QUEUE_URL: redis.url }],
])('the queue on %s', (kind, settings) => {
  if (settings === null) return it.skip('needs Redis', () => undefined);
  // A separate service without sweeps, so that only the saga and the queue wake lanes.
  const app = onTestApp(settings);

  it('starts the retry of a delivery when it is due, without a periodic sweep', async () => {
    await app.app.get(DeliveryProcessor, { strict: false }).sweep.stop();
    expect(app.app.get(QueueBackend, { strict: false }).kind).toBe(kind === 'Redis' ? 'redis' : 'postgres');
    const receiver = await TestReceiver.start();
    receiver.respondWith(500, 500, 200);
    const webhooks = new MerchantWebhooks(app, app.merchant);
    const id = await webhooks.register(receiver.url);
    await webhooks.publish();
    expect(await webhooks.settled(id, 1)).toMatchObject([{ status: 'succeeded', attempt_count: 3 }]);
    await receiver.stop();
    if (kind === 'Redis') await redis?.stop();
  });
});

import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { Sweeper } from '../../../src/contexts/webhooks/application/delivering/sweeper.js';
import { QueueBackend } from '../../../src/platform/queue/queue-backend.js';
import { onTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import type { SignedClient } from '../../support/http/signed-client.js';
import { TestRedis } from '../../support/programs/redis.js';
import { MerchantWebhooks, onWebhookHarness } from '../../support/webhooks/merchant-webhooks.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

describe('deliveries', () => {
  let app: TestApp;
  let receiver: TestReceiver;
  let merchant: SignedClient;
  let webhooks: MerchantWebhooks;
  onWebhookHarness((harness) => ({ app, receiver, merchant, webhooks } = harness));

  /** A receiver that asks for a pause of an hour, then returns 204. */
  const pauseOnce = (): void => {
    receiver.behavior = (response) =>
      receiver.received.length === 1
        ? response.writeHead(503, { 'retry-after': '3600' }).end()
        : response.writeHead(204).end();
  };
  /** The id of the delivery that waits for its second attempt. */
  const waiting = (endpointId: string): Promise<string> =>
    eventually(async () => {
      const [found] = (await webhooks.list(endpointId, '?status=pending')).webhook_deliveries;
      return found?.attempt_count === 1 ? found.id : null;
    });

  it('arrive signed, with the headers and the envelope of the contract', async () => {
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

  it('are tried again after 500, under the same id with a fresh signature, until they succeed', async () => {
    receiver.respondWith(500, 500, 200);
    const id = await webhooks.register(receiver.url);
    await webhooks.publish();
    expect(await webhooks.settled(id, 1)).toMatchObject([{ status: 'succeeded', attempt_count: 3 }]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const sent of receiver.received) expect(webhooks.verifies(id, sent)).toBe(true);
  });

  it('are dropped, and said to be, once the endpoint is deleted', async () => {
    pauseOnce();
    const id = await webhooks.register(receiver.url);
    await webhooks.publish();
    const delivery = await waiting(id);
    await merchant.call({ method: 'DELETE', path: webhooks.path(id) });
    await eventually(async () => {
      const response = await merchant.get(`/merchants/v1/webhook_deliveries/${delivery}`);
      return response.json<{ webhook_delivery: { status: string } }>().webhook_delivery.status === 'dropped';
    });
  });

  it('to one endpoint do not wait for a slow one, nor more than sixteen of the same', async () => {
    const slow = await TestReceiver.start();
    let open = 0;
    let most = 0;
    slow.behavior = (response) => {
      most = Math.max(most, ++open);
      response.on('close', () => (open -= 1));
    };
    const [slowId, id] = [await webhooks.register(slow.url), await webhooks.register(receiver.url)];
    await webhooks.publish(100);
    await webhooks.settled(id, 100);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(100);
    await eventually(() => most > 0);
    expect((await webhooks.list(slowId, '?status=pending')).webhook_deliveries.length).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(16);
    await slow.stop();
  });

  it('that a process held which died while it sent them are sent by another', async () => {
    pauseOnce();
    const id = await webhooks.register(receiver.url);
    await webhooks.publish();
    const delivery = await waiting(id);
    const dead = newId();
    await app.database.query(
      `insert into webhooks.senders (sender_id, seen_at) values ($1, now() - interval '11 seconds')`,
      [dead],
    );
    await app.database.query(
      'update webhooks.deliveries set leased_by = $1, due_at = now() where delivery_id = $2',
      [dead, delivery],
    );
    expect(await webhooks.settled(id, 1)).toMatchObject([{ status: 'succeeded', attempt_count: 2 }]);
  });
});

const redis = await TestRedis.start();

describe.each<[string, Record<string, string> | null]>([
  ['PostgreSQL', {}],
  ['Redis', redis && { QUEUE_URL: redis.url }],
])('the queue on %s', (kind, settings) => {
  if (settings === null) return it.skip('needs Redis', () => undefined);
  // Its own service: nothing sweeps, so that only the saga and the queue wake lanes.
  const app = onTestApp(settings);

  it('wakes a lane for a retry without a sweep', async () => {
    await app.app.get(Sweeper, { strict: false }).sweep.stop();
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

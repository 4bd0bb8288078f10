import { describe, expect, it } from '@jest/globals';
import { DeliveryProcessor } from '../../../src/contexts/webhooks/deliveries/delivery-processor.js';
import { QueueBackend } from '../../../src/platform/jobs/queue-backend.js';
import { onTestApp } from '../../support/app.js';
import type { SignedClient } from '../../support/http/signed-client.js';
import { TestRedis } from '../../support/programs/redis.js';
import { MerchantWebhooks, onWebhookHarness } from '../../support/webhooks/merchant-webhooks.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

describe('deliveries', () => {
  let receiver: TestReceiver;
  let merchant: SignedClient;
  let webhooks: MerchantWebhooks;
  onWebhookHarness((harness) => ({ receiver, merchant, webhooks } = harness));
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

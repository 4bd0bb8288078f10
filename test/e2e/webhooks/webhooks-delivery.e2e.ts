import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { newId } from '../../../src/kernel/ids.js';
import { QueueBackend } from '../../../src/platform/queue/queue-backend.js';
import {
  DeleteWebhookEndpoint,
  UpdateWebhookEndpoint,
} from '../../../src/contexts/webhooks/application/endpoint-commands.js';
import { RequestTestDelivery } from '../../../src/contexts/webhooks/application/delivery-commands.js';
import { dropTestDatabase, testDatabaseUrl } from '../../support/postgres.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import { TestRedis } from '../../support/programs/redis.js';
import { eventually } from '../../support/eventually.js';
import { WebhookWorker } from '../../support/webhooks/webhook-worker.js';

let redis: TestRedis | null;
let databaseUrl: string;

beforeAll(async () => {
  [redis, databaseUrl] = await Promise.all([TestRedis.start(), testDatabaseUrl()]);
}, 200_000);
afterAll(async () => {
  await redis?.stop();
  await dropTestDatabase(databaseUrl);
});

describe.each(['PostgreSQL', 'Redis'])('deliveries with the queue on %s', (kind) => {
  let worker: WebhookWorker;
  let receiver: TestReceiver;
  let merchantId: string;

  beforeAll(async () => {
    if (kind === 'Redis' && !redis) throw new Error('redis-server is missing and cannot be installed here');
    const settings = {
      WEBHOOK_TIMEOUT_MS: '2000',
      ...(kind === 'Redis' ? { QUEUE_URL: redis!.url } : {}),
    };
    worker = await WebhookWorker.start({ databaseUrl, settings });
    expect(worker.get(QueueBackend).kind).toBe(kind === 'Redis' ? 'redis' : 'postgres');
  });
  afterAll(() => worker.close());
  beforeEach(async () => {
    receiver = await TestReceiver.start();
    merchantId = newId();
  });
  afterEach(() => receiver.stop());

  const register = (url = receiver.url) => worker.register(merchantId, url);
  const publish = (count?: number) => worker.publish(merchantId, count);
  const caller = () => worker.caller(merchantId);

  it('arrive signed, with the headers and the envelope of the contract', async () => {
    const { id, signing_secret } = await register();
    await publish();
    const [row] = await worker.settled(id);
    expect(row).toMatchObject({ state: 'succeeded', attempts: 1 });
    const [{ headers, body }] = receiver.received as [(typeof receiver.received)[0]];
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'svc-Webhooks/1.0',
      'webhook-id': row!.delivery_id,
    });
    const verified = new Webhook(signing_secret).verify(body, headers as Record<string, string>);
    expect(verified).toMatchObject({
      id: row!.delivery_id,
      type: 'payout.received',
      merchant_id: merchantId,
    });
    expect(body).toContain('"custom_metadata":{ "a":1.0}}}');
  });

  it('leave within a fraction of a second', async () => {
    await register();
    // One in time is enough: on a busy machine any single one may be late.
    await eventually(async () => {
      const [count, began] = [receiver.received.length, performance.now()];
      await publish();
      const { at } = await eventually(() => receiver.received[count]);
      return at - began < 500;
    });
  });

  it('are tried again after 500, under the same id with a fresh signature, until they succeed', async () => {
    receiver.respondWith(500, 500, 200);
    const { id, signing_secret } = await register();
    await publish();
    expect(await worker.settled(id)).toMatchObject([{ state: 'succeeded', attempts: 3 }]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const { headers, body } of receiver.received) {
      expect(() => new Webhook(signing_secret).verify(body, headers as Record<string, string>)).not.toThrow();
    }
    expect(receiver.received[2]!.at - receiver.received[1]!.at).toBeGreaterThan(850);
  });

  it('end when the schedule ends', async () => {
    receiver.respondWith(503);
    const { id } = await register();
    await publish();
    expect(await worker.settled(id)).toMatchObject([{ state: 'exhausted', attempts: 3 }]);
  });

  it('end at once after another 4xx', async () => {
    receiver.respondWith(422);
    const { id } = await register();
    await publish();
    expect(await worker.settled(id)).toMatchObject([{ state: 'exhausted', attempts: 1 }]);
  });

  it('are tried again after a timeout', async () => {
    let requests = 0;
    receiver.behavior = (response) => (requests++ === 0 ? undefined : response.writeHead(200).end());
    const { id } = await register();
    await publish();
    expect(await worker.settled(id)).toMatchObject([{ state: 'succeeded', attempts: 2 }]);
  });

  it('end after 410, which disables the endpoint: what happens until it is enabled is dropped', async () => {
    receiver.respondWith(410);
    const { id } = await register();
    await publish();
    expect(await worker.settled(id)).toMatchObject([{ state: 'exhausted', attempts: 1 }]);
    await eventually(async () => ((await worker.status(id)) === 'disabled' ? true : null));
    await publish();
    await worker.execute(new UpdateWebhookEndpoint(caller(), id, { status: 'enabled' }));
    receiver.respondWith(200);
    await publish();
    const states = (await worker.settled(id, 3)).map((row) => row.state).sort();
    expect(states).toEqual(['dropped', 'exhausted', 'succeeded']);
  });

  it('are dropped, and said to be, once the endpoint is deleted', async () => {
    receiver.respondWith(500);
    const { id } = await register();
    await publish();
    await eventually(() => (receiver.received.length >= 2 ? true : null));
    await worker.execute(new DeleteWebhookEndpoint(caller(), id));
    expect(await worker.settled(id)).toMatchObject([{ state: 'dropped' }]);
  });

  it('of a test go to a disabled endpoint too, under the id that was returned, and leave it disabled', async () => {
    const { id, signing_secret } = await register();
    await worker.execute(new UpdateWebhookEndpoint(caller(), id, { status: 'disabled' }));
    const { body } = await worker.execute(new RequestTestDelivery(caller(), id));
    const responded = (JSON.parse(body) as { webhook_delivery: { id: string } }).webhook_delivery;
    expect(await worker.settled(id)).toMatchObject([{ delivery_id: responded.id, state: 'succeeded' }]);
    const [{ headers, body: sent }] = receiver.received as [(typeof receiver.received)[0]];
    expect(new Webhook(signing_secret).verify(sent, headers as Record<string, string>)).toMatchObject(
      responded,
    );
    expect(await worker.status(id)).toBe('disabled');
  });

  it('to one endpoint do not wait for a slow one, nor more than a few of the same', async () => {
    const slow = await TestReceiver.start();
    let open = 0;
    let most = 0;
    slow.behavior = (response) => {
      most = Math.max(most, ++open);
      response.on('close', () => (open -= 1));
    };
    const { id: slowId } = await register(slow.url);
    const { id } = await register();
    await publish(100);
    await worker.settled(id, 100);
    expect((await worker.deliveries(slowId)).some(({ state }) => state === 'pending')).toBe(true);
    // On a busy machine some attempts take longer than the timeout of these tests, and come twice.
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(100);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(16);
    await slow.stop();
  });
});

import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { newId } from '../../../src/kernel/ids.js';
import { Database } from '../../../src/platform/postgres/database.js';
import { QueueBackend } from '../../../src/platform/queue/queue-backend.js';
import { DeleteWebhookEndpoint } from '../../../src/contexts/webhooks/application/endpoint-commands.js';
import { SigningSecrets } from '../../../src/contexts/webhooks/application/signing-secrets.js';
import { ringOf } from '../../support/key-ring.js';
import { dropTestDatabase, testDatabaseUrl } from '../../support/postgres.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import { TestRedis } from '../../support/programs/redis.js';
import { eventually } from '../../support/eventually.js';
import { WebhookWorker } from '../../support/webhooks/webhook-worker.js';

const SENDER = fileURLToPath(new URL('../../support/webhooks/webhook-sender.ts', import.meta.url));
const masterKey = randomBytes(32).toString('hex');
let redis: TestRedis | null;
let databaseUrl: string;
let receiver: TestReceiver;
let merchantId: string;

beforeAll(async () => {
  [redis, databaseUrl] = await Promise.all([TestRedis.start(), testDatabaseUrl()]);
}, 200_000);
afterAll(async () => {
  await redis?.stop();
  await dropTestDatabase(databaseUrl);
});
beforeEach(async () => {
  receiver = await TestReceiver.start();
  merchantId = newId();
});
afterEach(() => receiver.stop());

describe('deliveries', () => {
  let worker: WebhookWorker;
  beforeAll(async () => {
    worker = await WebhookWorker.start({
      databaseUrl,
      masterKey,
      settings: { WEBHOOK_TIMEOUT_MS: '2000' },
    });
  });
  afterAll(() => worker.close());

  const register = (url = receiver.url) => worker.register(merchantId, url);
  const publish = (count?: number) => worker.publish(merchantId, count);

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

  it('are dropped, and said to be, once the endpoint is deleted', async () => {
    receiver.respondWith(500);
    const { id } = await register();
    await publish();
    await eventually(() => (receiver.received.length >= 2 ? true : null));
    await worker.execute(new DeleteWebhookEndpoint(worker.caller(merchantId), id));
    expect(await worker.settled(id)).toMatchObject([{ state: 'dropped' }]);
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

it('what a process held that was killed while sending is sent by another', async () => {
  const first = await WebhookWorker.start({ databaseUrl, masterKey });
  const { id } = await first.register(merchantId, receiver.url);
  await eventually(async () => ((await first.status(id)) === 'enabled' ? true : null));
  await first.close();

  receiver.behavior = () => undefined;
  const database = await Database.connect({ url: databaseUrl, poolSize: 2 });
  const secrets = new SigningSecrets(await ringOf(databaseUrl, Buffer.from(masterKey, 'hex')));
  const planted = Array.from({ length: 40 }, () => {
    const place = { delivery_id: newId(), endpoint_id: id, merchant_id: merchantId };
    const row = { ...place, type: 'payout.received', body: '{}', is_test: false };
    return { ...row, mac: secrets.macOf(row) };
  });
  await database.query(
    `insert into webhooks.deliveries (delivery_id, endpoint_id, merchant_id, type, body, is_test, mac)
     select delivery_id, endpoint_id, merchant_id, type, body, is_test, mac
     from jsonb_populate_recordset(null::webhooks.deliveries, $1)`,
    [JSON.stringify(planted)],
  );
  const sender = startSender();
  await eventually(() => (receiver.received.length === 16 ? true : null));
  sender.kill('SIGKILL');
  await once(sender, 'exit');
  const [left] = await database.query<{ held: number }>(
    'select count(leased_by)::int as held from webhooks.deliveries where endpoint_id = $1',
    [id],
  );
  expect(left!.held).toBe(40);
  // As if ten seconds had passed.
  await database.query("update webhooks.senders set seen_at = seen_at - interval '10 seconds'");
  await database.close();

  const sentBefore = receiver.received.map(({ headers }) => headers['webhook-id']);
  receiver.respondWith(200);
  const second = await WebhookWorker.start({ databaseUrl, masterKey });
  const rows = await second.settled(id, 40);
  expect(rows.every(({ state, attempts }) => state === 'succeeded' && attempts === 1)).toBe(true);
  const sentAfter = receiver.received.slice(16).map(({ headers }) => headers['webhook-id']);
  expect(sentAfter.sort()).toEqual(rows.map((row) => row.delivery_id).sort());
  expect(sentAfter).toEqual(expect.arrayContaining(sentBefore));
  await second.close();
});

it.each(['PostgreSQL', 'Redis'])('the queue on %s wakes a lane for a retry without a sweep', async (kind) => {
  if (kind === 'Redis' && !redis) throw new Error('redis-server is missing and cannot be installed here');
  const settings = kind === 'Redis' ? { QUEUE_URL: redis!.url } : undefined;
  const worker = await WebhookWorker.start({ databaseUrl, masterKey, settings, sweeper: false });
  expect(worker.get(QueueBackend).kind).toBe(kind === 'Redis' ? 'redis' : 'postgres');
  receiver.respondWith(500, 500, 200);
  const { id } = await worker.register(merchantId, receiver.url);
  await worker.publish(merchantId);
  expect(await worker.settled(id, 1)).toMatchObject([{ state: 'succeeded', attempts: 3 }]);
  await worker.close();
});

function startSender(): ChildProcess {
  const env = { ...process.env, DATABASE_URL: databaseUrl, MASTER_KEY: masterKey, LOG_LEVEL: 'silent' };
  return spawn(process.execPath, ['--import', 'tsx', SENDER], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...env, NODE_OPTIONS: '' },
  });
}

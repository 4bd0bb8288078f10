import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { SigningSecrets } from '../../../src/contexts/webhooks/application/signing-secrets.js';
import { ringOf } from '../../support/key-ring.js';
import { newId } from '../../../src/kernel/ids.js';
import { Database } from '../../../src/platform/postgres/database.js';
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

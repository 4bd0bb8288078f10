import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { CommandBus, CqrsModule } from '@nestjs/cqrs';
import { ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { Webhook } from 'standardwebhooks';
import { EventRegistry } from '../../src/event-store/event-registry.js';
import { EventStoreModule } from '../../src/event-store/event-store.module.js';
import { EVENT_STORE, type EventStore, type NewEvent } from '../../src/event-store/port.js';
import { newId } from '../../src/kernel/ids.js';
import { ConfigModule } from '../../src/platform/config/config.module.js';
import { readConfig } from '../../src/platform/config/config.js';
import { Database } from '../../src/platform/database/database.js';
import { DatabaseModule } from '../../src/platform/database/database.module.js';
import { RequestTicket } from '../../src/platform/http/ticket.js';
import { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { QueueModule } from '../../src/platform/queue/queue.module.js';
import { SealingModule } from '../../src/platform/sealing/sealing.module.js';
import { TelemetryModule } from '../../src/platform/telemetry/telemetry.module.js';
import { DeleteWebhookEndpoint } from '../../src/webhooks/application/delete-webhook-endpoint.js';
import { DeliveryTable } from '../../src/webhooks/application/delivering/delivery-table.js';
import { RegisterWebhookEndpoint } from '../../src/webhooks/application/register-webhook-endpoint.js';
import { RequestTestDelivery } from '../../src/webhooks/application/request-test-delivery.js';
import { UpdateWebhookEndpoint } from '../../src/webhooks/application/update-webhook-endpoint.js';
import { WebhooksModule } from '../../src/webhooks/webhooks.module.js';
import { dropTestDatabase, testDatabaseUrl } from '../support/postgres.js';
import { TestReceiver } from '../support/receiver.js';
import { startRedis, type TestRedis } from '../support/redis.js';

let redis: TestRedis | null;
let databaseUrl: string;
const masterKey = randomBytes(32).toString('hex');

beforeAll(async () => {
  [redis, databaseUrl] = await Promise.all([startRedis(), testDatabaseUrl()]);
}, 200_000);
afterAll(async () => {
  await redis?.stop();
  await dropTestDatabase(databaseUrl);
});

/** The part of the service that webhooks need, as a worker process has it. */
async function startWorker(settings: Record<string, string>): Promise<INestApplicationContext> {
  const config = readConfig({
    ...{ DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: '8', MASTER_KEY: masterKey, LOG_LEVEL: 'silent' },
    ...{ WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,1', WEBHOOK_TIMEOUT_MS: '500', METRICS_PORT: '0' },
    ...settings,
  });
  const platform = [ConfigModule.of(config), CqrsModule.forRoot(), ScheduleModule.forRoot(), DatabaseModule];
  const module = await Test.createTestingModule({
    imports: [...platform, SealingModule, EventStoreModule, TelemetryModule, QueueModule, WebhooksModule],
  }).compile();
  module.useLogger(false);
  module.get(EventRegistry, { strict: false }).register([{ type: 'payout.received.v1' }]);
  return module.init();
}

/** The rows of one endpoint's deliveries. */
interface Row {
  readonly delivery_id: string;
  readonly state: string;
  readonly attempts: number;
}

describe.each(['PostgreSQL', 'Redis'])('deliveries with the queue on %s', (kind) => {
  let worker: INestApplicationContext;
  let receiver: TestReceiver;
  let merchantId: string;

  beforeAll(async () => {
    if (kind === 'Redis' && !redis) throw new Error('redis-server is missing and cannot be installed here');
    worker = await startWorker(kind === 'Redis' ? { QUEUE_URL: redis!.url } : {});
    expect(worker.get(QueueBackend, { strict: false }).kind).toBe(kind === 'Redis' ? 'redis' : 'postgres');
  });
  afterAll(() => worker.close());
  beforeEach(async () => {
    receiver = await TestReceiver.start();
    merchantId = newId();
  });
  afterEach(() => receiver.stop());

  const caller = () => ({ merchantId, metadata: {}, ticket: new RequestTicket(merchantId, null, '') });
  const commands = () => worker.get(CommandBus, { strict: false });

  async function register(url = receiver.url): Promise<{ id: string; signing_secret: string }> {
    const fields = { url, description: null, event_types: null };
    const { body } = await commands().execute(new RegisterWebhookEndpoint(caller(), fields));
    return (JSON.parse(body) as { webhook_endpoint: { id: string; signing_secret: string } })
      .webhook_endpoint;
  }

  async function publish(count = 1): Promise<void> {
    const events = Array.from({ length: count }, (): NewEvent => {
      const facts = { payout_id: newId(), merchant_id: merchantId, user_id: newId(), amount: '1.50' };
      const rest = {
        currency_code: 'USDC',
        transaction_hash: '0x1',
        custom_metadata: '{ "a":1.0}',
        chain_id: 1,
      };
      const end = { log_index: 0, block_number: 1, received_at: new Date().toISOString() };
      return { id: newId(), type: 'payout.received.v1', data: { ...facts, ...rest, ...end }, metadata: {} };
    });
    const store = worker.get<EventStore>(EVENT_STORE, { strict: false });
    await store.commit({ appends: [{ stream: `payout-${newId()}`, events, expected: 'any' }] });
  }

  function rows(endpointId: string): Promise<Row[]> {
    return worker
      .get(Database, { strict: false })
      .query<Row & Record<string, unknown>>(
        'select delivery_id, state, attempts from webhooks.deliveries where endpoint_id = $1',
        [endpointId],
      );
  }

  async function settled(endpointId: string, count = 1, withinMs = 15_000): Promise<Row[]> {
    return eventually(async () => {
      const found = await rows(endpointId);
      return found.length === count && found.every((row) => row.state !== 'pending') ? found : null;
    }, withinMs);
  }

  it('arrive signed, with the headers and the envelope of the contract', async () => {
    const { id, signing_secret } = await register();
    await publish();
    const [row] = await settled(id);
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
    await publish();
    await eventually(() => (receiver.received.length === 1 ? true : null), 5000);
    const began = performance.now();
    await publish();
    await eventually(() => (receiver.received.length === 2 ? true : null), 5000);
    expect(receiver.received[1]!.at - began).toBeLessThan(500);
  });

  it('are tried again after 500, under the same id with a fresh signature, until they succeed', async () => {
    receiver.answers(500, 500, 200);
    const { id, signing_secret } = await register();
    await publish();
    expect(await settled(id)).toMatchObject([{ state: 'succeeded', attempts: 3 }]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const { headers, body } of receiver.received) {
      expect(() => new Webhook(signing_secret).verify(body, headers as Record<string, string>)).not.toThrow();
    }
    const waited = receiver.received[2]!.at - receiver.received[1]!.at;
    expect(waited).toBeGreaterThan(850);
    expect(waited).toBeLessThan(4000);
  });

  it('end when the schedule ends', async () => {
    receiver.answers(503);
    const { id } = await register();
    await publish();
    expect(await settled(id)).toMatchObject([{ state: 'exhausted', attempts: 3 }]);
  });

  it('end at once after another 4xx', async () => {
    receiver.answers(422);
    const { id } = await register();
    await publish();
    expect(await settled(id)).toMatchObject([{ state: 'exhausted', attempts: 1 }]);
  });

  it('are tried again after silence', async () => {
    let asked = 0;
    receiver.behavior = (response) => (asked++ === 0 ? undefined : response.writeHead(200).end());
    const { id } = await register();
    await publish();
    expect(await settled(id)).toMatchObject([{ state: 'succeeded', attempts: 2 }]);
  });

  it('end after 410, which disables the endpoint: what is still waiting is dropped', async () => {
    receiver.answers(410);
    const { id } = await register();
    await publish();
    expect(await settled(id)).toMatchObject([{ state: 'exhausted', attempts: 1 }]);
    await eventually(async () => ((await status(id)) === 'disabled' ? true : null), 5000);
    await publish();
    await commands().execute(new UpdateWebhookEndpoint(caller(), id, { status: 'enabled' }));
    receiver.answers(200);
    await publish();
    expect((await settled(id, 2)).map((row) => row.state).sort()).toEqual(['exhausted', 'succeeded']);
  });

  it('are dropped, and said to be, once the endpoint is deleted', async () => {
    receiver.answers(500);
    const { id } = await register();
    await publish();
    await eventually(() => (receiver.received.length >= 2 ? true : null), 5000);
    await commands().execute(new DeleteWebhookEndpoint(caller(), id));
    expect(await settled(id)).toMatchObject([{ state: 'dropped' }]);
  });

  it('of a test go to a disabled endpoint too, under the id that was answered, and leave it disabled', async () => {
    const { id, signing_secret } = await register();
    await commands().execute(new UpdateWebhookEndpoint(caller(), id, { status: 'disabled' }));
    const { body } = await commands().execute(new RequestTestDelivery(caller(), id));
    const answered = (JSON.parse(body) as { webhook_delivery: { id: string } }).webhook_delivery;
    expect(await settled(id)).toMatchObject([{ delivery_id: answered.id, state: 'succeeded' }]);
    const [{ headers, body: sent }] = receiver.received as [(typeof receiver.received)[0]];
    expect(new Webhook(signing_secret).verify(sent, headers as Record<string, string>)).toMatchObject(
      answered,
    );
    expect(await status(id)).toBe('disabled');
  });

  it('to one endpoint do not wait for a slow one, nor more than a few of its own', async () => {
    const slow = await TestReceiver.start();
    let open = 0;
    let most = 0;
    slow.behavior = (response) => {
      most = Math.max(most, ++open);
      response.on('close', () => (open -= 1));
    };
    await register(slow.url);
    const { id } = await register();
    const began = performance.now();
    await publish(100);
    await settled(id, 100);
    expect(receiver.received).toHaveLength(100);
    expect(Math.max(...receiver.received.map(({ at }) => at)) - began).toBeLessThan(3000);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(16);
    await slow.stop();
  });

  it('that a killed process held are sent by another', async () => {
    receiver.behavior = (response) => response.writeHead(200).end();
    const { id } = await register();
    // A process that claimed and then stopped beating: all that kill -9 leaves behind.
    const dead = new DeliveryTable(worker.get(Database, { strict: false }));
    await dead.beat();
    await worker.get(Database, { strict: false }).query(
      `insert into webhooks.deliveries (delivery_id, endpoint_id, merchant_id, type, body, is_test)
       values ($1, $2, $3, 'payout.received', '{}', false)`,
      [newId(), id, merchantId],
    );
    const claimed = await dead.claim(id, 10);
    const [row] = await settled(id, 1, 25_000);
    expect(row).toMatchObject({ state: 'succeeded', attempts: 1 });
    expect(claimed.length + receiver.received.length).toBeGreaterThanOrEqual(1);
  }, 30_000);

  async function status(endpointId: string): Promise<string | undefined> {
    const found = await worker
      .get(Database, { strict: false })
      .query<{ status: string }>('select status from webhooks.lanes where endpoint_id = $1', [endpointId]);
    return found[0]?.status;
  }
});

/** What `look` finds once it finds something. */
async function eventually<T>(look: () => Promise<T | null> | T | null, withinMs: number): Promise<T> {
  const until = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (performance.now() > until) throw new Error(`nothing within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { Database } from '../../../src/platform/postgres/database.js';
import { Log } from '../../../src/platform/telemetry/logger.js';
import { endpointsDisabled } from '../../../src/contexts/webhooks/metrics.js';
import { AutomaticDisabling } from '../../../src/contexts/webhooks/application/automatic-disabling.js';
import { RequestTestDelivery } from '../../../src/contexts/webhooks/application/delivery-commands.js';
import { UpdateWebhookEndpoint } from '../../../src/contexts/webhooks/application/endpoint-commands.js';
import { EndpointsView } from '../../../src/contexts/webhooks/views/endpoints.js';
import { dropTestDatabase, testDatabaseUrl } from '../../support/postgres.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import { eventually } from '../../support/eventually.js';
import { WebhookWorker } from '../../support/webhooks/webhook-worker.js';

/** Four failures disable; each delivery makes three attempts at once and one in ten minutes. */
const settings = {
  WEBHOOK_DISABLE_FAILURES: '4',
  WEBHOOK_DISABLE_SPAN_SECONDS: '0',
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,0.02,600',
};
const masterKey = randomBytes(32).toString('hex');
let folder: string;
let databaseUrl: string;
let workers: WebhookWorker[];
let worker: WebhookWorker;
let receiver: TestReceiver;
let merchantId: string;

beforeAll(async () => {
  [databaseUrl, folder] = await Promise.all([testDatabaseUrl(), mkdtemp(join(tmpdir(), 'disabling-'))]);
  const log = { LOG_LEVEL: 'warn', LOG_FILE: join(folder, 'log') };
  const start = () => WebhookWorker.start({ databaseUrl, masterKey, settings: { ...settings, ...log } });
  workers = await Promise.all([start(), start()]);
  worker = workers[0]!;
});
afterAll(async () => {
  await Promise.all(workers.map((each) => each.close()));
  await dropTestDatabase(databaseUrl);
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  receiver = await TestReceiver.start();
  merchantId = newId();
});
afterEach(() => receiver.stop());

const caller = () => worker.caller(merchantId);
const register = () => worker.register(merchantId, receiver.url);
const query = (sql: string, id: string) => worker.get(Database).query(sql, [id]);

/** The endpoint as merchants see it, once that is as it is expected, and the deliveries saga has come as far. */
function expectEndpoint(id: string, expected: { status?: string; failure_count?: number }) {
  return eventually(async () => {
    const found = await worker.get(EndpointsView).find(merchantId, id);
    const { status = found?.status, failure_count = found?.failure_count } = expected;
    const settled = found?.status === (await worker.status(id));
    return settled && found?.status === status && found?.failure_count === failure_count ? found : null;
  });
}

const disablings = (id: string) =>
  query(
    `select data::jsonb->>'cause' as cause from event_store.events
     where type = 'webhook_endpoint.disabled.v1' and data::jsonb->>'endpoint_id' = $1`,
    id,
  );
const counted = async (cause: string) =>
  (await endpointsDisabled.get()).values.find(({ labels }) => labels.cause === cause)?.value ?? 0;

/** Failures as a process leaves them that dies before it evaluates them. */
const failures = (id: string) =>
  query(
    `insert into webhooks.attempts (delivery_id, attempt, endpoint_id, started_at, duration_ms, outcome)
     select gen_random_uuid(), 1, $1, clock_timestamp(), 1, 'retry' from generate_series(1, 4)`,
    id,
  );

describe('an endpoint that keeps failing', () => {
  it('is disabled once, with any number of workers, and what comes due then is dropped', async () => {
    receiver.respondWith(500);
    const { id } = await register();
    const before = await counted('failing');
    await worker.publish(merchantId, 3);
    const endpoint = await expectEndpoint(id, { status: 'disabled' });
    expect(endpoint.disabled_cause).toBe('failing');
    expect(endpoint.disabled_at).toBe(endpoint.updated_at);
    expect(endpoint.failure_count).toBeGreaterThanOrEqual(4);
    await Promise.all(
      workers.flatMap((each) => [1, 2].map(() => each.get(AutomaticDisabling).evaluate([id]))),
    );
    expect(await disablings(id)).toEqual([{ cause: 'failing' }]);
    expect(await counted('failing')).toBe(before + 1);

    // An attempt in flight postpones its delivery again when it ends.
    const dropped = await eventually(async () => {
      await query('update webhooks.deliveries set due_at = now() where endpoint_id = $1', id);
      const found = await worker.deliveries(id);
      return found.every(({ state }) => state === 'dropped') && found;
    });
    expect(dropped).toHaveLength(3);
  });

  it('is logged as a warning', async () => {
    const { id } = await register();
    await expectEndpoint(id, { status: 'enabled' });
    await failures(id);
    await worker.get(AutomaticDisabling).evaluate([id]);
    workers.forEach((each) => each.get(Log).flush());
    const line = await eventually(async () => {
      const lines = (await readFile(join(folder, 'log'), 'utf8')).split('\n');
      return (
        lines.find((each) => each.includes(id) && each.includes('endpoint disabled') && each.endsWith('}')) ??
        null
      );
    });
    const fields = JSON.parse(line) as Record<string, unknown>;
    expect(fields).toMatchObject({
      level: 'warn',
      endpoint_id: id,
      merchant_id: merchantId,
      cause: 'failing',
    });
    expect(Date.parse(String(fields['failing_since']))).toBeLessThanOrEqual(Date.now());
  });

  it('is disabled within a minute when its sender died before it evaluated it', async () => {
    const { id } = await register();
    await expectEndpoint(id, { status: 'enabled' });
    await failures(id);
    await expectEndpoint(id, { status: 'enabled', failure_count: 4 });
    await worker.get(AutomaticDisabling).all.options.run(new AbortController().signal);
    expect((await expectEndpoint(id, { status: 'disabled' })).disabled_cause).toBe('failing');
  });

  it('starts again once the merchant enables it, also when its old failures are still evaluated', async () => {
    const { id } = await register();
    await expectEndpoint(id, { status: 'enabled' });
    const failing_since = new Date().toISOString();
    await failures(id);
    await worker.get(AutomaticDisabling).evaluate([id]);
    await expectEndpoint(id, { status: 'disabled', failure_count: 4 });
    const { body } = await worker.execute(new UpdateWebhookEndpoint(caller(), id, { status: 'enabled' }));
    const cleared = { status: 'enabled', failure_count: 0, disabled_cause: null, disabled_at: null };
    expect(JSON.parse(body)).toMatchObject({ webhook_endpoint: cleared });
    const endpoint = { endpoint_id: id, merchant_id: merchantId };
    await worker.get(AutomaticDisabling).disable(endpoint, { cause: 'failing', failing_since });
    expect(await expectEndpoint(id, { status: 'enabled', failure_count: 0 })).toMatchObject(cleared);
    await worker.get(AutomaticDisabling).evaluate([id]);
    expect(await disablings(id)).toHaveLength(1);
    await failures(id);
    await worker.get(AutomaticDisabling).evaluate([id]);
    expect(await disablings(id)).toHaveLength(2);
  });

  it('is disabled by failures of test deliveries too, and they count on while it is disabled', async () => {
    receiver.respondWith(500);
    const { id } = await register();
    await worker.execute(new RequestTestDelivery(caller(), id));
    await expectEndpoint(id, { status: 'enabled', failure_count: 3 });
    await worker.execute(new RequestTestDelivery(caller(), id));
    await expectEndpoint(id, { status: 'disabled', failure_count: 6 });
    await worker.execute(new RequestTestDelivery(caller(), id));
    await expectEndpoint(id, { status: 'disabled', failure_count: 9 });
    expect(await disablings(id)).toHaveLength(1);
  });
});

it('an endpoint whose receiver responds with 410 is disabled at once, and says so', async () => {
  receiver.respondWith(410);
  const { id } = await register();
  const before = await counted('gone');
  await worker.publish(merchantId);
  const endpoint = await expectEndpoint(id, { status: 'disabled', failure_count: 1 });
  expect(endpoint).toMatchObject({ disabled_cause: 'gone', disabled_at: endpoint.updated_at });
  expect(await counted('gone')).toBe(before + 1);
});

it.each([
  ['enabled', () => [{ status: 'disabled' }, { status: 'enabled' }] as const],
  ['moved', () => [{ url: `${receiver.url}/moved` }] as const],
])('a 410 to an attempt that began before the endpoint was %s disables nothing', async (_, changes) => {
  let respond = (): void => undefined;
  receiver.behavior = (response) => (respond = () => response.writeHead(410).end());
  const { id } = await register();
  await worker.publish(merchantId);
  await eventually(() => receiver.received[0] ?? null);
  for (const change of changes()) await worker.execute(new UpdateWebhookEndpoint(caller(), id, change));
  respond();
  expect(await worker.settled(id, 1)).toMatchObject([{ state: 'exhausted' }]);
  expect(await expectEndpoint(id, { status: 'enabled' })).toMatchObject({ disabled_cause: null });
  expect(await disablings(id)).not.toContainEqual({ cause: 'gone' });
});

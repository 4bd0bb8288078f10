import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { newId } from '../../src/kernel/ids.js';
import { Database } from '../../src/platform/database/database.js';
import { AutomaticDisabling } from '../../src/webhooks/application/automatic-disabling.js';
import { EndpointsView } from '../../src/webhooks/views/endpoints.js';
import { dropTestDatabase, testDatabaseUrl } from '../support/postgres.js';
import { TestReceiver } from '../support/receiver.js';
import { eventually, WebhookWorker } from '../support/webhook-worker.js';

const settings = {
  WEBHOOK_DISABLE_FAILURES: '4',
  WEBHOOK_DISABLE_SPAN_SECONDS: '0',
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,0.02,600',
};
const masterKey = randomBytes(32).toString('hex');
let databaseUrl: string;
let workers: WebhookWorker[];
let worker: WebhookWorker;
let receiver: TestReceiver;
let merchantId: string;

beforeAll(async () => {
  databaseUrl = await testDatabaseUrl();
  const start = () => WebhookWorker.start({ databaseUrl, masterKey, settings });
  workers = await Promise.all([start(), start()]);
  worker = workers[0]!;
}, 60_000);
afterAll(async () => {
  await Promise.all(workers.map((each) => each.close()));
  await dropTestDatabase(databaseUrl);
});
beforeEach(async () => {
  receiver = await TestReceiver.start();
  merchantId = newId();
});
afterEach(() => receiver.stop());

const shown = (id: string) => worker.get(EndpointsView).find(merchantId, id);
const disabled = (id: string) =>
  eventually(async () => {
    const endpoint = await shown(id);
    return endpoint?.status === 'disabled' ? endpoint : null;
  }, 10_000);
const counted = (id: string, count: number) =>
  eventually(async () => ((await shown(id))?.failure_count === count ? true : null), 10_000);
const disablings = (id: string) =>
  worker.get(Database).query<{ cause: string }>(
    `select data::jsonb->>'cause' as cause from event_store.events
       where type = 'webhook_endpoint.disabled.v1' and data::jsonb->>'endpoint_id' = $1`,
    [id],
  );

describe('an endpoint that keeps failing', () => {
  it('is disabled once, whoever judges it, and what comes due then is dropped', async () => {
    receiver.answers(500);
    const { id } = await worker.register(merchantId, receiver.url);
    await worker.publish(merchantId, 3);
    const { disabled_cause, disabled_at, failure_count, updated_at } = await disabled(id);
    expect(disabled_cause).toBe('failing');
    expect(disabled_at).toBe(updated_at);
    expect(failure_count).toBeGreaterThanOrEqual(4);
    await Promise.all(workers.flatMap((each) => [1, 2].map(() => each.get(AutomaticDisabling).judge([id]))));
    expect(await disablings(id)).toEqual([{ cause: 'failing' }]);
    await worker
      .get(Database)
      .query('update webhooks.deliveries set due_at = now() where endpoint_id = $1', [id]);
    const rows = await worker.settled(id, 3);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['dropped']));
    expect(await counted(id, failure_count)).toBe(true);
  });
});

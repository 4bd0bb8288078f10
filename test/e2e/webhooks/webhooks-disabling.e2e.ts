import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AutomaticDisablingProcessor } from '../../../src/contexts/webhooks/endpoints/automatic-disabling.processor.js';
import { testApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import type { SignedClient } from '../../support/http/signed-client.js';
import { MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

interface Endpoint {
  readonly status: string;
  readonly failure_count: number;
  readonly disabled_cause: string | null;
  readonly disabled_at: string | null;
  readonly updated_at: string;
}

// A separate service, because four failures disable. Three attempts come at once and one after ten minutes.
const app = await testApp({
  WEBHOOK_DISABLE_FAILURES: '4',
  WEBHOOK_DISABLE_SPAN_SECONDS: '0',
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,0.02,600',
});
let receiver: TestReceiver;
let merchant: SignedClient;
let webhooks: MerchantWebhooks;

beforeEach(async () => {
  receiver = await TestReceiver.start();
  merchant = await app.newMerchant();
  webhooks = new MerchantWebhooks(app, merchant);
});
afterEach(() => receiver.stop());

const disabling = () => app.app.get(AutomaticDisablingProcessor, { strict: false });
const query = (sql: string, id: string) => app.database.query(sql, [id]);

/** Waits until the endpoint has the expected values. */
function expectEndpoint(id: string, expected: Partial<Endpoint>): Promise<Endpoint> {
  return eventually(async () => {
    const found = (await merchant.get(webhooks.path(id))).json().webhook_endpoint;
    const names = Object.keys(expected) as (keyof Endpoint)[];
    return names.every((name) => found[name] === expected[name]) ? found : null;
  });
}

const disablings = (id: string) =>
  query(
    `select data::jsonb->>'cause' as cause from event_store.events
     where type = 'webhook_endpoint.disabled.v1' and data::jsonb->>'endpoint_id' = $1`,
    id,
  );

describe('an endpoint that keeps failing', () => {
  it('is disabled once by any number of workers, and deliveries that fall due afterwards are dropped', async () => {
    receiver.respondWith(500);
    const id = await webhooks.register(receiver.url);
    await webhooks.publish(3);
    const endpoint = await expectEndpoint(id, { status: 'disabled' });
    expect(endpoint).toMatchObject({ disabled_cause: 'failing', disabled_at: endpoint.updated_at });
    expect(endpoint.failure_count).toBeGreaterThanOrEqual(4);
    await Promise.all([1, 2, 3, 4].map(() => disabling().evaluateAll()));
    expect(await disablings(id)).toEqual([{ cause: 'failing' }]);

    // An attempt in flight postpones its delivery again when it ends.
    await eventually(async () => {
      await query('update webhooks.deliveries set due_at = now() where endpoint_id = $1', id);
      const { webhook_deliveries: found } = await webhooks.list(id);
      return found.length === 3 && found.every(({ status }) => status === 'dropped');
    });
  });

  it('is disabled by failures of test deliveries too, which are counted further while it is disabled', async () => {
    receiver.respondWith(500);
    const id = await webhooks.register(receiver.url);
    for (const [status, failure_count] of [
      ['enabled', 3],
      ['disabled', 6],
      ['disabled', 9],
    ] as const) {
      await webhooks.test(id);
      await expectEndpoint(id, { status, failure_count });
    }
    expect(await disablings(id)).toHaveLength(1);
  });
});

it('an endpoint whose receiver responds with 410 is disabled at once and names the cause', async () => {
  receiver.respondWith(410);
  const id = await webhooks.register(receiver.url);
  await webhooks.publish();
  const endpoint = await expectEndpoint(id, { status: 'disabled', failure_count: 1 });
  expect(endpoint).toMatchObject({ disabled_cause: 'gone', disabled_at: endpoint.updated_at });
});

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { onWebhookHarness, type MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import type { TestReceiver } from '../../support/webhooks/receiver.js';
import type { SignedClient } from '../../support/http/signed-client.js';
import { eventually } from '../../support/eventually.js';

let receiver: TestReceiver;
let merchant: SignedClient;
let webhooks: MerchantWebhooks;
onWebhookHarness((harness) => ({ receiver, merchant, webhooks } = harness));

const agoMs = (ms: number) => new Date(Date.now() - ms).toISOString();

describe('POST webhook_endpoints/{id}/recover', () => {
  const recover = (id: string, body: unknown = { since: agoMs(60_000) }, key?: string) =>
    merchant.post(`${webhooks.path(id)}/recover`, body as object, key);

  it('202: what was exhausted, and what happened while it was disabled, arrives after all', async () => {
    receiver.respondWith(404, 200);
    const id = await webhooks.register(receiver.url);
    await webhooks.publish();
    await webhooks.settled(id, 1);
    await webhooks.change(id, { status: 'disabled' });
    await webhooks.publish(3);
    await eventually(async () => ((await webhooks.settled(id, 4)).length === 4 ? true : null));
    await webhooks.change(id, { status: 'enabled' });
    const since = agoMs(60_000);
    const key = randomUUID();
    const response = await recover(id, { since }, key);
    expect(response.status).toBe(202);
    const { webhook_recovery } = response.json<{ webhook_recovery: Record<string, string> }>();
    expect(webhook_recovery).toEqual({
      id: webhook_recovery['id'],
      webhook_endpoint_id: id,
      since,
      requested_at: webhook_recovery['requested_at'],
    });
    await eventually(() => (receiver.received.length === 5 ? true : null));
    const settled = await webhooks.settled(id, 4);
    expect(settled.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded']);
    expect(settled.map(({ attempt_count }) => attempt_count).sort()).toEqual([1, 1, 1, 2]);
    expect((await recover(id, { since }, key)).text).toBe(response.text);
  });

  it('409: the endpoint is disabled', async () => {
    const id = await webhooks.register(receiver.url);
    await webhooks.change(id, { status: 'disabled' });
    expect((await recover(id)).status).toBe(409);
  });
});

describe('GET webhook_endpoints/{id}/stats', () => {
  const stats = (id: string, query = '') => merchant.get(`${webhooks.path(id)}/stats${query}`);

  it('200: deliveries, attempts, failures, latency and what waits', async () => {
    receiver.respondWith(503, 404, 200);
    const id = await webhooks.register(receiver.url);
    await webhooks.publish();
    await webhooks.settled(id, 1);
    await webhooks.test(id);
    await webhooks.settled(id, 2);
    const began = Date.now();
    const response = await stats(id);
    expect(response.status).toBe(200);
    const { webhook_endpoint_stats: found } = response.json<{
      webhook_endpoint_stats: { since: string; latency_ms: Record<string, number> };
    }>();
    expect(found).toEqual({
      webhook_endpoint_id: id,
      since: found.since,
      truncated: false,
      deliveries: { pending: 0, succeeded: 1, exhausted: 1, dropped: 0 },
      attempts: { succeeded: 1, failed: 2 },
      failures: { http_4xx: 1, http_5xx: 1 },
      latency_ms: found.latency_ms,
      pending_now: 0,
      oldest_due_at: null,
    });
    expect(Object.keys(found.latency_ms)).toEqual(['p50', 'p95', 'p99']);
    const since = Date.parse(found.since) + 86_400_000;
    expect([began <= since, since <= Date.now()]).toEqual([true, true]);
  });

  it.each(['x', '', '2026-01-01', '9999-01-01T00:00:00Z', agoMs(31 * 86_400_000)])(
    '400: since=%s',
    async (since) => {
      const response = await stats(await webhooks.register(receiver.url), `?since=${since}`);
      expect(response.status).toBe(400);
      expect(response.json().detail).toContain('since');
    },
  );
});

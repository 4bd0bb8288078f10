import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { TestReceiver } from '../../support/webhooks/receiver.js';
import type { SignedClient } from '../../support/http/signed-client.js';
import {
  onWebhookHarness,
  type Delivery,
  type MerchantWebhooks,
} from '../../support/webhooks/merchant-webhooks.js';
import { eventually } from '../../support/eventually.js';

let receiver: TestReceiver;
let merchant: SignedClient;
let webhooks: MerchantWebhooks;
onWebhookHarness((harness) => ({ receiver, merchant, webhooks } = harness));

const ids = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id);

describe('GET webhook_endpoints/{id}/deliveries', () => {
  it('200: lists deliveries newest first, in pages', async () => {
    const id = await webhooks.register(receiver.url);
    const tests: string[] = [];
    for (let count = 0; count < 5; count += 1) tests.push(await webhooks.test(id));
    await webhooks.settled(id, 5);
    const whole = await webhooks.list(id);
    expect(ids(whole.webhook_deliveries).sort()).toEqual(tests.sort());
    expect(whole.next_cursor).toBeNull();
    const times = whole.webhook_deliveries.map(({ created_at }) => created_at);
    expect(times).toEqual([...times].sort().reverse());
    const [first] = whole.webhook_deliveries;
    expect(Object.keys(first!)).toEqual([
      ...['id', 'webhook_endpoint_id', 'type', 'status', 'attempt_count', 'created_at', 'next_attempt_at'],
      'finished_at',
    ]);
    expect(first).toMatchObject({
      webhook_endpoint_id: id,
      type: 'webhook_endpoint.test',
      status: 'succeeded',
      attempt_count: 1,
      next_attempt_at: null,
      finished_at: expect.any(String) as unknown as string,
    });
    const page = await webhooks.list(id, '?page_size=3');
    const rest = await webhooks.list(id, `?page_size=3&page_cursor=${page.next_cursor}`);
    expect([...page.webhook_deliveries, ...rest.webhook_deliveries]).toEqual(whole.webhook_deliveries);
    expect(rest.next_cursor).toBeNull();
  });

  it('200: applies filters, and lists deliveries of a disabled endpoint as dropped', async () => {
    const id = await webhooks.register(receiver.url);
    await webhooks.change(id, { status: 'disabled' });
    await webhooks.publish();
    const test = await webhooks.test(id);
    await webhooks.settled(id, 2);
    const dropped = (await webhooks.list(id, '?status=dropped')).webhook_deliveries;
    expect(dropped).toMatchObject([{ type: 'payout.received', status: 'dropped', attempt_count: 0 }]);
    expect(ids((await webhooks.list(id, '?status=succeeded')).webhook_deliveries)).toEqual([test]);
    expect(ids((await webhooks.list(id, '?type=webhook_endpoint.test')).webhook_deliveries)).toEqual([test]);
    expect((await webhooks.list(id, '?status=pending')).webhook_deliveries).toEqual([]);
    const today = dropped[0]!.created_at.slice(0, 10);
    expect(
      (await webhooks.list(id, `?created_from=${today}&created_to=9999-12-31`)).webhook_deliveries,
    ).toHaveLength(2);
    expect((await webhooks.list(id, '?created_to=2000-01-01')).webhook_deliveries).toEqual([]);
  });

  it.each([
    ...['status=lost', 'type=payout.unknown', 'page_size=0', 'page_size=1001', 'page_size=x'],
    ...['page_cursor=x', 'created_from=2026-02-30', 'created_to=x', 'status='],
    'status=dropped&status=pending',
  ])('400: refuses %s', async (query) => {
    const id = await webhooks.register(receiver.url);
    const response = await merchant.get(`${webhooks.path(id)}/deliveries?${query}`);
    expect(response.status).toBe(400);
    expect(response.json().detail).toContain(query.split('=')[0]!);
  });
});

describe('GET webhook_deliveries/{id}', () => {
  it('200: returns the payload as it was sent and every attempt', async () => {
    let requests = 0;
    receiver.behavior = (response) =>
      requests++ === 0
        ? response.socket?.destroy()
        : response.writeHead(requests === 2 ? 503 : 200).end('é'.repeat(600));
    const id = await webhooks.register(receiver.url);
    await webhooks.publish();
    const [{ id: delivery }] = (await webhooks.settled(id, 1)) as [Delivery];
    const response = await merchant.get(`/merchants/v1/webhook_deliveries/${delivery}`);
    expect(response.status).toBe(200);
    expect(response.text).toContain(`"payload":${receiver.received[0]!.body},"attempts":[`);
    const found = response.json<{ webhook_delivery: Delivery & { attempts: Record<string, unknown>[] } }>();
    const { attempts, ...fields } = found.webhook_delivery;
    expect(fields).toMatchObject({ status: 'succeeded', attempt_count: 3, webhook_endpoint_id: id });
    expect(attempts).toMatchObject([
      { attempt: 1, outcome: 'failed', http_status: null, response_excerpt: null },
      {
        attempt: 2,
        outcome: 'failed',
        http_status: 503,
        error_class: null,
        response_excerpt: 'é'.repeat(512),
      },
      { attempt: 3, outcome: 'succeeded', http_status: 200, error_class: null, error: null },
    ]);
    expect(attempts[0]!['error_class']).toEqual(expect.any(String));
    expect(Object.keys(attempts[0]!)).toEqual([
      ...['attempt', 'started_at', 'latency_ms', 'outcome', 'http_status', 'error_class', 'error'],
      'response_excerpt',
    ]);
  });

  it('200: returns a delivery even after its endpoint is deleted', async () => {
    const id = await webhooks.register(receiver.url);
    const delivery = await webhooks.test(id);
    await webhooks.settled(id, 1);
    await merchant.call({ method: 'DELETE', path: webhooks.path(id) });
    expect((await merchant.get(`/merchants/v1/webhook_deliveries/${delivery}`)).status).toBe(200);
  });
});

describe('POST webhook_deliveries/{id}/resend', () => {
  const resend = (id: string, key?: string) =>
    merchant.post(`/merchants/v1/webhook_deliveries/${id}/resend`, undefined, key);

  it.each([200, 404])('202: sends it again under its id, with a new signature, after %d', async (status) => {
    receiver.respondWith(status, 200);
    const id = await webhooks.register(receiver.url);
    await webhooks.publish();
    const [before] = await webhooks.settled(id, 1);
    const response = await resend(before!.id);
    expect(response.status).toBe(202);
    expect(response.json().webhook_delivery).toEqual({
      ...before,
      status: 'pending',
      finished_at: null,
      next_attempt_at: expect.any(String) as unknown as string,
    });
    await eventually(() => (receiver.received.length === 2 ? true : null));
    expect(await webhooks.settled(id, 1)).toMatchObject([{ status: 'succeeded', attempt_count: 2 }]);
    const [first, second] = receiver.received.map(({ headers, body }) => ({ headers, body }));
    expect(second!.body).toBe(first!.body);
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    expect(webhooks.verifies(id, second!)).toBe(true);
  });

  it('202: waits for an attempt in flight, and starts another attempt if the first fails', async () => {
    const held: (() => void)[] = [];
    receiver.behavior = (response) => {
      const status = receiver.received.length === 1 ? 404 : 200;
      held.push(() => response.writeHead(status).end());
    };
    const id = await webhooks.register(receiver.url);
    await webhooks.publish();
    const [delivery] = await eventually(async () => {
      return held.length === 1 ? (await webhooks.list(id)).webhook_deliveries : null;
    });
    expect((await resend(delivery!.id)).json()).toEqual({ webhook_delivery: delivery });
    // A later delivery of the endpoint overtakes it.
    const test = await webhooks.test(id);
    await eventually(() => held.length === 2);
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([delivery!.id, test]);
    held.forEach((respond) => respond());
    await eventually(() => held.length === 3);
    held[2]!();
    expect((await webhooks.settled(id, 2)).find((each) => each.id === delivery!.id)).toMatchObject({
      status: 'succeeded',
      attempt_count: 2,
    });
  });

  it('409: refuses a delivery of a disabled endpoint, unless it is a test', async () => {
    const id = await webhooks.register(receiver.url);
    await webhooks.publish();
    const [delivery] = await webhooks.settled(id, 1);
    await webhooks.change(id, { status: 'disabled' });
    expect((await resend(delivery!.id)).status).toBe(409);
    const test = await webhooks.test(id);
    await webhooks.settled(id, 2);
    expect((await resend(test)).status).toBe(202);
    await eventually(() => (receiver.received.length === 3 ? true : null));
  });
});

const agoMs = (ms: number) => new Date(Date.now() - ms).toISOString();

describe('POST webhook_endpoints/{id}/recover', () => {
  const recover = (id: string, body: unknown = { since: agoMs(60_000) }, key?: string) =>
    merchant.post(`${webhooks.path(id)}/recover`, body as object, key);

  it('202: sends exhausted deliveries again, and events missed while the endpoint was disabled', async () => {
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

  it('409: refuses a disabled endpoint', async () => {
    const id = await webhooks.register(receiver.url);
    await webhooks.change(id, { status: 'disabled' });
    expect((await recover(id)).status).toBe(409);
  });
});

describe('GET webhook_endpoints/{id}/stats', () => {
  const stats = (id: string, query = '') => merchant.get(`${webhooks.path(id)}/stats${query}`);

  it('200: returns the number of deliveries, attempts, failures and pending deliveries, and the latency', async () => {
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
    '400: refuses since=%s',
    async (since) => {
      const response = await stats(await webhooks.register(receiver.url), `?since=${since}`);
      expect(response.status).toBe(400);
      expect(response.json().detail).toContain('since');
    },
  );
});

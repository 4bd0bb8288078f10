import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { LookupsView } from '../../../src/contexts/operations/search/lookups.view.js';
import type { AdminClient } from '../../support/admin/admin-client.js';
import type { TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import type { ApiResponse, SignedClient } from '../../support/http/signed-client.js';
import {
  MerchantWebhooks,
  onWebhookHarness,
  type Delivery,
} from '../../support/webhooks/merchant-webhooks.js';
import type { TestReceiver } from '../../support/webhooks/receiver.js';

type Listed = Delivery & { readonly merchant_id: string };
interface Body {
  readonly deliveries: readonly Listed[];
  readonly webhook_endpoints: readonly (Readonly<Record<string, unknown>> & { readonly id: string })[];
  readonly delivery: Listed & { readonly attempts: readonly object[] };
  readonly next_cursor: string | null;
  readonly operation_id: string;
  readonly operation: object;
}

const WHY = { reason: 'the receiver works again' };

describe('webhooks in the admin API', () => {
  let app: TestApp;
  let receiver: TestReceiver;
  let merchant: SignedClient;
  let webhooks: MerchantWebhooks;
  let admin: AdminClient;
  let merchantId: string;
  onWebhookHarness((harness) => ({ app, receiver, merchant, webhooks } = harness));
  beforeEach(async () => {
    admin = await app.newAdmin();
    merchantId = merchant.credentials.apiKey;
  });

  const list = async (query: string, by = admin): Promise<Body> => {
    const response = await by.get(`/deliveries?${query}`);
    expect(response.status).toBe(200);
    return response.json();
  };
  const idsOf = async (query: string, by = admin): Promise<string[]> =>
    (await list(query, by)).deliveries.map(({ id }) => id);
  const resend = (id: string, by = admin, body: object = WHY): Promise<ApiResponse> =>
    by.post(`/deliveries/${id}/resend`, body);
  const lookups = async (): Promise<string> =>
    JSON.stringify(
      (await app.app.get(LookupsView, { strict: false }).page(merchantId, { page_size: 20 })).lookups,
    );

  it('GET webhook_endpoints: lists endpoints of all merchants, newest first, by filters and without secrets', async () => {
    const one = await webhooks.register(receiver.url);
    const two = await webhooks.register(receiver.url);
    await webhooks.change(two, { status: 'disabled', description: 'orders' });
    const gone = await webhooks.register(receiver.url);
    await merchant.call({ method: 'DELETE', path: webhooks.path(gone) });
    const endpoints = async (query: string, by = admin): Promise<Body> =>
      (await by.get(`/webhook_endpoints?${query}`)).json();
    const found = await endpoints(`merchant_id=${merchantId}`);
    expect(found.webhook_endpoints.map(({ id }) => id)).toEqual([two, one]);
    const { webhook_endpoint } = (await merchant.get(webhooks.path(two))).json();
    expect(found.webhook_endpoints[0]).toEqual({ ...webhook_endpoint, merchant_id: merchantId });
    const disabled = await endpoints(`merchant_id=${merchantId}&status=disabled`);
    expect(disabled.webhook_endpoints.map(({ id }) => id)).toEqual([two]);
    const page = await endpoints(`merchant_id=${merchantId}&page_size=1`);
    const rest = await endpoints(`merchant_id=${merchantId}&page_size=1&page_cursor=${page.next_cursor}`);
    expect(rest.webhook_endpoints.map(({ id }) => id)).toEqual([one]);
    expect((await endpoints('')).webhook_endpoints.slice(0, 2).map(({ id }) => id)).toEqual([two, one]);
    const confined = await app.newAdmin({ merchants: [app.secondMerchant.credentials.apiKey] });
    expect((await endpoints('', confined)).webhook_endpoints).toEqual([]);
    expect((await admin.get('/webhook_endpoints?state=disabled')).status).toBe(400);
    expect(await lookups()).toContain('webhook endpoints');
  });

  it('GET deliveries: lists deliveries of all merchants, newest first, in pages and with combined filters', async () => {
    const other = await app.newMerchant();
    const others = new MerchantWebhooks(app, other);
    const [id, otherId] = [await webhooks.register(receiver.url), await others.register(receiver.url)];
    const first = await webhooks.test(id);
    await webhooks.settled(id, 1);
    const second = await others.test(otherId);
    await others.settled(otherId, 1);
    const third = await webhooks.test(id);
    const [newest, oldest] = await webhooks.settled(id, 2);
    expect((await idsOf('')).slice(0, 3)).toEqual([third, second, first]);
    const places = `merchant_id=${merchantId}&endpoint_id=${id}&type=webhook_endpoint.test&status=succeeded`;
    const mine = `${places}&from=${oldest!.created_at}&to=${newest!.created_at}`;
    const page = await list(`${mine}&page_size=1`);
    expect(page.deliveries).toEqual([{ ...newest, merchant_id: merchantId }]);
    expect(await idsOf(`${mine}&page_size=1&page_cursor=${page.next_cursor}`)).toEqual([first]);
    const confined = await app.newAdmin({ merchants: [other.credentials.apiKey, newId()] });
    expect(await idsOf('', confined)).toEqual([second]);
    for (const query of ['status=lost', 'type=x', 'from=yesterday', 'to=2026-02-30', 'user_id=1'])
      expect((await admin.get(`/deliveries?${query}`)).status).toBe(400);
  });

  it('GET deliveries/{id}: returns each attempt with its status, latency and the first bytes of the response', async () => {
    const id = await webhooks.register(receiver.url);
    receiver.behavior = (response) => response.writeHead(422).end('no such order');
    const delivery = await webhooks.test(id);
    await webhooks.settled(id, 1);
    const response = await admin.get(`/deliveries/${delivery}`);
    expect(response.status).toBe(200);
    expect(response.headers['etag']).toBe('"3"');
    expect(response.json().delivery).toMatchObject({
      id: delivery,
      merchant_id: merchantId,
      status: 'exhausted',
      attempts: [
        {
          attempt: 1,
          outcome: 'failed',
          http_status: 422,
          latency_ms: expect.any(Number),
          response_excerpt: 'no such order',
        },
      ],
    });
    expect(await lookups()).toContain(`delivery ${delivery}`);
  });

  it('POST deliveries/{id}/resend: requires a scope and a reason, and resends once per Idempotency-Key', async () => {
    const id = await webhooks.register(receiver.url);
    receiver.respondWith(400, 204);
    await webhooks.publish();
    const [exhausted] = await webhooks.settled(id, 1);
    const delivery = exhausted!.id;
    const viewer = await app.newAdmin({ role: 'viewer' });
    const onCall = await app.newAdmin({ role: 'on_call' });
    expect((await resend(delivery, viewer)).status).toBe(403);
    expect((await resend(delivery, onCall, {})).status).toBe(422);
    const idempotencyKey = newId();
    const post = (): Promise<ApiResponse> =>
      onCall.post(`/deliveries/${delivery}/resend`, WHY, { idempotencyKey });
    const done = await post();
    expect(done.status).toBe(200);
    const { operation_id, delivery: resent } = done.json();
    expect(resent).toMatchObject({ id: delivery, merchant_id: merchantId });
    const again = await post();
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([done.text, 'true']);
    await eventually(async () => (await webhooks.settled(id, 1))[0]!.status === 'succeeded');
    expect(receiver.received).toHaveLength(2);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([delivery]),
    );
    expect((await admin.get(`/operations/${operation_id}`)).json().operation).toMatchObject({
      name: 'deliveries.resend',
      status: 'executed',
      subject: { kind: 'delivery', id: delivery, revision: null },
      requested_by: { operator_id: onCall.operatorId },
    });
    await webhooks.change(id, { status: 'disabled' });
    expect((await resend(delivery)).status).toBe(409);
  });

  it('GET search: finds an endpoint and a delivery by their ids', async () => {
    const id = await webhooks.register(`${receiver.url}/token-of-the-merchant`);
    const delivery = await webhooks.test(id);
    await webhooks.settled(id, 1);
    const search = async (q: string): Promise<object> => (await admin.get(`/search?q=${q}`)).json();
    const { host } = new URL(receiver.url);
    expect(await search(id)).toEqual({
      results: [
        {
          kind: 'webhook_endpoint',
          id,
          merchant_id: merchantId,
          title: `Webhook endpoint at ${host}, enabled`,
        },
      ],
    });
    expect(await search(delivery.toUpperCase())).toEqual({
      results: [
        {
          kind: 'delivery',
          id: delivery,
          merchant_id: merchantId,
          title: 'Delivery of webhook_endpoint.test, succeeded',
        },
      ],
    });
  });
});

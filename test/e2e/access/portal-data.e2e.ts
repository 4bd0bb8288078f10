import { randomUUID } from 'node:crypto';
import { CommandBus } from '@nestjs/cqrs';
import { afterAll, describe, expect, it } from '@jest/globals';
import { SuspendMerchant } from '../../../src/contexts/access/merchants/merchants.commands.js';
import { PORTAL_SCOPES } from '../../../src/contexts/access/portal/portal-session.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ADDRESS } from '../../support/exchange/order-fixtures.js';
import { createPortalSession, PortalBrowser } from '../../support/http/portal-browser.js';
import { SignedClient } from '../../support/http/signed-client.js';
import { createUser, reported } from '../../support/payouts/payout-calls.js';
import { MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

const app = await sharedApp();

const DATA = '/api/v1';

const browserOf = async (merchant: SignedClient, scopes = PORTAL_SCOPES): Promise<PortalBrowser> =>
  PortalBrowser.enter(
    (await createPortalSession(merchant, { scopes, actor: { id: 'u-1', name: 'Ada' } })).url,
  );

const list = async <T>(browser: PortalBrowser, path: string, name: string): Promise<T[]> => {
  const response = await browser.get(`${DATA}${path}`);
  expect([path, response.status]).toEqual([path, 200]);
  return response.json<Record<string, T[]>>()[name]!;
};

interface Identified {
  readonly id: string;
}

const { merchant, secondMerchant } = app;
const [browser, stranger] = [await browserOf(merchant), await browserOf(secondMerchant)];
const receiver = await TestReceiver.start();
const endpointId = await new MerchantWebhooks(app, merchant).register(receiver.url);
const userId = await createUser(merchant);
const payoutId = (await reported(merchant, userId)).id;

describe('the API of the portal', () => {
  afterAll(() => receiver.stop());

  const testDelivery = async (): Promise<string> => {
    const response = await browser.post(`${DATA}/endpoints/${endpointId}/test`);
    expect(response.status).toBe(202);
    return response.json().webhook_delivery.id;
  };

  it('returns payouts as the merchant API does', async () => {
    const payouts = await list<Identified>(browser, '/payouts', 'payouts');
    const api = (await app.merchant.get('/merchants/v1/payouts')).json<{ payouts: Identified[] }>();
    expect(payouts).toEqual(api.payouts);
    expect((await browser.get(`${DATA}/payouts/${payoutId}`)).json()).toEqual({ payout: payouts[0] });
    expect((await browser.get(`${DATA}/payouts/${payoutId}/evidence`)).status).toBe(409);
    const exported = await browser.get(`${DATA}/payouts`, { accept: 'application/x-ndjson' });
    expect([exported.headers['content-type'], exported.text]).toEqual([
      'application/x-ndjson; charset=utf-8',
      expect.stringContaining(payoutId),
    ]);
  });

  it('returns orders with their user_id to a session with only orders:read, and records no lookup', async () => {
    const merchant = await app.newMerchant();
    const key = await app.newExchangeKey(false, merchant.credentials.apiKey);
    const created = await key.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS, user_id: 'customer-7' });
    const { id } = created.json().order;
    const own = await browserOf(merchant, ['orders:read']);
    const order = { id, user_id: 'customer-7', merchant_id: merchant.credentials.apiKey };
    expect(await list(own, '/orders?user_id=customer-7', 'orders')).toMatchObject([order]);
    expect((await own.get(`${DATA}/orders/${id}`)).json()).toMatchObject({ order });
    expect((await stranger.get(`${DATA}/orders/${id}`)).status).toBe(404);
    expect(await list(stranger, '/orders?user_id=customer-7', 'orders')).toEqual([]);
    expect((await own.get(`${DATA}/me`)).json()).toMatchObject({ scopes: ['orders:read'] });
    expect(await list(own, '/lookups', 'lookups')).toEqual([]);
  });

  it('returns endpoints and test deliveries with their attempts, and resends a delivery', async () => {
    expect(await list<Identified>(browser, '/endpoints', 'webhook_endpoints')).toEqual([
      expect.objectContaining({ id: endpointId }),
    ]);
    const id = await testDelivery();
    const read = async (): Promise<{ status: string; attempts: object[] }> =>
      (await browser.get(`${DATA}/deliveries/${id}`)).json<{
        delivery: { status: string; attempts: object[] };
      }>().delivery;
    await eventually(async () => (await read()).status === 'succeeded');
    expect(
      await list<Identified>(browser, `/deliveries?endpoint_id=${endpointId}`, 'deliveries'),
    ).toContainEqual(expect.objectContaining({ id, status: 'succeeded' }));
    expect((await browser.post(`${DATA}/deliveries/${id}/resend`)).status).toBe(202);
    await eventually(async () => (await read()).attempts.length === 2);
  });

  it('records the session in the event of a change, and makes one change per Idempotency-Key', async () => {
    const key = { 'idempotency-key': `"${randomUUID()}"` };
    const path = `${DATA}/endpoints/${endpointId}/rotate_secret`;
    const [first, repeated] = [
      await browser.post(path, { overlap_seconds: 60 }, key),
      await browser.post(path, { overlap_seconds: 60 }, key),
    ];
    expect([first.status, repeated.text]).toEqual([200, first.text]);
    expect(first.json().webhook_endpoint).toHaveProperty('signing_secret');
    const rows = await app.database.query<{ metadata: { portal_session_id: string; actor: string } }>(
      `select metadata::json as metadata from event_store.events
       where type = 'webhook_endpoint.secret_rotated.v1' and data::text like '%' || $1 || '%'`,
      [endpointId],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!.metadata).toMatchObject({
      actor: 'POST /api/v1/endpoints/:id/rotate_secret',
      portal_session_id: expect.any(String),
      merchant_id: app.merchant.credentials.apiKey,
    });
    const since = new Date(Date.now() - 60_000).toISOString();
    expect((await browser.post(`${DATA}/endpoints/${endpointId}/recover`, { since })).status).toBe(202);
  });

  it('rotates a secret if the JSON body is empty, as the merchant API does', async () => {
    const json = { 'content-type': 'application/json' };
    const inPortal = await browser.post(`${DATA}/endpoints/${endpointId}/rotate_secret`, undefined, json);
    const path = `/merchants/v1/webhook_endpoints/${endpointId}/rotate_secret`;
    const signed = await app.merchant.call({ method: 'POST', path, headers: json });
    expect([inPortal.status, signed.status]).toEqual([200, 200]);
  });

  it('registers one endpoint per Idempotency-Key, with a secret, and then deletes the endpoint', async () => {
    const key = { 'idempotency-key': `"${randomUUID()}"` };
    const body = { webhook_endpoint: { url: `${receiver.url}/second` } };
    const [first, repeated] = [
      await browser.post(`${DATA}/endpoints`, body, key),
      await browser.post(`${DATA}/endpoints`, body, key),
    ];
    expect([first.status, repeated.text]).toEqual([201, first.text]);
    const { webhook_endpoint: created } = first.json();
    expect(created).toHaveProperty('signing_secret');
    const path = `${DATA}/endpoints/${created.id}`;
    expect((await browser.get(path)).json().webhook_endpoint).not.toHaveProperty('signing_secret');
    expect((await browser.post(path, undefined, {}, 'DELETE')).status).toBe(204);
    expect((await browser.get(path)).status).toBe(404);
  });

  it('issues a key that signs requests, lists the key with its last use, and revokes the key', async () => {
    const merchant = await app.newMerchant();
    const own = await browserOf(merchant);
    const key = { 'idempotency-key': `"${randomUUID()}"` };
    const [issued, repeated] = [
      await own.post(`${DATA}/keys`, { name: 'second server' }, key),
      await own.post(`${DATA}/keys`, { name: 'second server' }, key),
    ];
    expect([issued.status, repeated.text]).toEqual([201, issued.text]);
    const { id, secret } = issued.json().credential;
    const { apiKey } = merchant.credentials;
    const server = new SignedClient(app.url, { apiKey, privateKey: secret });
    const status = async (): Promise<number> => (await server.get('/merchants/v1/payouts')).status;
    await eventually(async () => (await status()) === 200);
    const listed = (): Promise<Record<string, unknown>[]> => list(own, '/keys', 'credentials');
    await eventually(async () => (await listed()).some((each) => each['id'] === id && each['last_used_at']));
    expect(await listed()).toHaveLength(2);
    expect(JSON.stringify(await listed())).not.toContain(secret);
    expect((await own.post(`${DATA}/keys`)).status).toBe(409);
    const revoked = await own.post(`${DATA}/keys/${id}/revoke`);
    expect(revoked.json()).toMatchObject({ credential: { id, kind: 'payouts', status: 'revoked' } });
    await eventually(async () => (await status()) === 401);
  });

  it('revokes an exchange secret, after which the key creates no order', async () => {
    const merchant = await app.newMerchant();
    const own = await browserOf(merchant);
    const key = await app.newExchangeKey(true, merchant.credentials.apiKey);
    const [listed] = await list<{ id: string; api_key: string }>(own, '/keys?kind=exchange', 'credentials');
    expect(listed!.api_key).toBe(key.credentials.apiKey);
    const order = async (): Promise<number> =>
      (await key.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS })).status;
    expect(await order()).toBe(201);
    const path = `${DATA}/keys/${listed!.id}/revoke`;
    const revoked = await own.post(path);
    const credential = { id: listed!.id, kind: 'exchange', status: 'revoked' };
    expect([revoked.status, revoked.json()]).toMatchObject([200, { credential }]);
    await eventually(async () => (await order()) === 401);
    expect((await own.post(path)).json()).toMatchObject({ credential });
    const [event] = await app.database.query<{ session: string; actor: string }>(
      `select metadata::json->>'portal_session_id' as session, metadata::json->>'actor' as actor
       from event_store.events where stream = $1 order by revision desc limit 1`,
      [`credentials-${merchant.credentials.apiKey}`],
    );
    expect(event).toEqual({ session: expect.any(String), actor: 'POST /api/v1/keys/:id/revoke' });
  });

  it('returns the journey of a user, orders, requests, usage and lookups', async () => {
    expect(await list(browser, `/events?user_id=${userId}`, 'events')).toEqual([]);
    expect((await browser.get(`${DATA}/events`)).status).toBe(400);
    expect(await list(browser, '/orders', 'orders')).toEqual([]);
    expect(await list(browser, '/lookups', 'lookups')).toEqual([]);
    await eventually(async () => {
      const requests = await list<{ path: string }>(
        browser,
        '/requests?path=/merchants/v1/payouts/rep',
        'requests',
      );
      return requests.length > 0 && requests.every(({ path }) => path === '/merchants/v1/payouts/report');
    });
    const usage = (await browser.get(`${DATA}/usage`)).json<{
      limit: number;
      used: number;
      resets_at: string;
      days: { day: string; requests: number; refused: number }[];
    }>();
    expect(usage).toMatchObject({ limit: 1_000_000, resets_at: expect.any(String) });
    expect(usage.used).toBeGreaterThan(0);
    expect(usage.days).toHaveLength(1);
    expect(usage.days[0]!.requests).toBeGreaterThan(usage.days[0]!.refused);
  });

  it('counts the sent requests as usage, not the requests that processes reserved in advance', async () => {
    const merchant = await app.newMerchant();
    for (let n = 0; n < 3; n += 1) await merchant.get('/merchants/v1/payouts');
    const usage = await browserOf(merchant, ['usage:read']);
    // The request that created the session counts too.
    const used = async () => (await usage.get(`${DATA}/usage`)).json().used;
    await eventually(async () => (await used()) === 4);
  });

  it('returns no data of another merchant', async () => {
    expect((await stranger.get(`${DATA}/events?user_id=${userId}`)).status).toBe(404);
    for (const [path, name] of [
      ['/payouts', 'payouts'],
      ['/endpoints', 'webhook_endpoints'],
      ['/deliveries', 'deliveries'],
      [`/deliveries?endpoint_id=${endpointId}`, 'deliveries'],
    ] as const)
      expect(await list(stranger, path, name)).toEqual([]);
    const requests = await list<{ merchant_id: string }>(stranger, '/requests', 'requests');
    const own = app.secondMerchant.credentials.apiKey;
    expect(requests.every(({ merchant_id }) => merchant_id === own)).toBe(true);
  });

  it('accepts writes only from the page of the portal; another origin gets 403', async () => {
    const foreign = { origin: 'https://evil.example' };
    const { status } = await browser.post(`${DATA}/endpoints/${endpointId}/test`, undefined, foreign);
    expect(status).toBe(403);
  });

  it('is read-only while the merchant is suspended', async () => {
    const merchant = await app.newMerchant();
    const suspended = await browserOf(merchant);
    await app.app.get(CommandBus).execute(new SuspendMerchant(merchant.credentials.apiKey));
    await eventually(
      async () => (await suspended.post(`${DATA}/endpoints/${randomUUID()}/test`)).status === 403,
    );
    expect(await list(suspended, '/payouts', 'payouts')).toEqual([]);
  });
});

describe('GET /admin/v1/requests', () => {
  it('lists the requests of merchants by filters and records that an operator read them', async () => {
    const merchant = await app.newMerchant();
    const { apiKey } = merchant.credentials;
    const other = await app.newAdmin({ merchants: [app.merchant.credentials.apiKey] });
    const admin = await app.newAdmin();
    const unknown = await merchant.get(`/merchants/v1/payouts/${randomUUID()}`);
    await merchant.get('/merchants/v1/users/by_issuer_wallet_address?address=0x1');
    const requests = async (query: string): Promise<{ request_id: string; query_names: string[] }[]> =>
      (await admin.get(`/requests?merchant_id=${apiKey}${query}`)).json<{ requests: [] }>().requests;
    await eventually(async () => (await requests('')).length === 2);
    expect(await requests('&status=404&path=/merchants/v1/payouts')).toEqual([
      expect.objectContaining({
        request_id: unknown.headers['request-id'],
        merchant_id: apiKey,
        status: 404,
      }),
    ]);
    expect(await requests(`&request_id=${unknown.headers['request-id']}`)).toHaveLength(1);
    expect(await requests('&path=/merchants/v1/%25')).toEqual([]);
    expect((await requests('&path=/merchants/v1/users'))[0]!.query_names).toEqual(['address']);
    expect((await other.get(`/requests?merchant_id=${apiKey}`)).status).toBe(404);
    const first = (await admin.get(`/requests?merchant_id=${apiKey}&page_size=1`)).json();
    expect(await requests(`&page_size=1&page_cursor=${first.next_cursor}`)).toEqual([
      expect.objectContaining({ request_id: unknown.headers['request-id'] }),
    ]);
    const lookups = await list<object>(await browserOf(merchant), '/lookups', 'lookups');
    expect(lookups).toContainEqual(
      expect.objectContaining({
        kind: 'read',
        subject: 'requests',
        operator_name: 'Test operator',
        reason: null,
      }),
    );
  });
});

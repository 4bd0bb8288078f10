import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { EdgeAdapter } from '../../../src/platform/http/fastify-adapter.js';
import { onTestApp, STORES } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ContractChecker, routeDifferences } from '../../support/http/openapi.js';
import { freshReport } from '../../support/fresh-report.js';
import { send, type ApiResponse } from '../../support/http/signed-client.js';
import { createPayee, REPORT, reported, settledPayout, USERS } from '../../support/payouts/payout-calls.js';
import { specFolder } from '../../support/run-folder.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';

const TRANSFERS = '/merchants/v1/sandbox/transfers';

type Document = Parameters<typeof routeDifferences>[1];

describe.each(STORES)('the whole service with events in %s', (_name, settings) => {
  // A separate service, because its event store may be another, and its node is stopped.
  const test = onTestApp(settings);
  let receiver: TestReceiver;
  beforeAll(async () => {
    receiver = await TestReceiver.start();
  });
  afterAll(() => receiver.stop());

  const document = async (): Promise<Document> => (await send(`${test.url}/openapi.json`)).json();
  const routes = () => {
    const adapter = test.app.getHttpAdapter() as unknown as EdgeAdapter;
    const isDocumented = ({ listener, url }: { readonly listener: string; readonly url: string }): boolean =>
      ['api', '*'].includes(listener) || url.startsWith('/admin/v1/');
    return adapter.routes.all.filter(isDocumented);
  };

  it('takes a payout from a new user to a webhook that standardwebhooks verifies', async () => {
    const { merchant, chain } = test;
    const registered = await merchant.post('/merchants/v1/webhook_endpoints', {
      webhook_endpoint: { url: `${receiver.url}/hook` },
    });
    expect(registered.status).toBe(201);
    const { webhook_endpoint } = registered.json();
    const user = await createPayee(merchant);

    const { hash } = await chain.transfer(user.wallet, '12.50');
    const payout = { amount: '12.50', transaction_hash: hash, custom_metadata: { invoice: 7 } };
    const { id, status } = await reported(merchant, user.id, payout);
    expect(status).toBe('pending');
    expect((await settledPayout(merchant, id)).status).toBe('received');
    const { balance } = (await merchant.get(`${USERS}/${user.id}/balance`)).json();
    expect(balance).toEqual({ confirmed: '12.5', pending: '0', committed: '12.5', currency_code: 'USDC' });

    const isOurs = ({ body }: { body: string }): boolean =>
      (JSON.parse(body) as { type: string }).type === 'payout.received';
    const { headers, body } = await eventually(() => receiver.received.find(isOurs));
    const signed = new Webhook(webhook_endpoint.signing_secret);
    expect(signed.verify(body, headers as Record<string, string>)).toMatchObject({
      id: headers['webhook-id'],
      type: 'payout.received',
      merchant_id: merchant.credentials.apiKey,
      data: { payout_id: id, user_id: user.id, currency_code: 'USDC', ...payout },
    });
    for (const each of receiver.received) (await ContractChecker.of(test.url)).expectWebhook(each.body);
    expect(new Set(receiver.received.map((each) => each.headers['webhook-id'])).size).toBeGreaterThan(4);
  });

  it('pays in the sandbox by a signed call, even many times at once', async () => {
    const { merchant, chain } = test;
    const to = chain.newAddress();
    const sent = await Promise.all(
      Array.from({ length: 20 }, () => merchant.post(TRANSFERS, { to, amount: '0.25' })),
    );
    expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 201));
    const hashes = sent.map((response) => response.json().transaction_hash);
    expect(new Set(hashes).size).toBe(20);
    await Promise.all(hashes.map((hash) => chain.provider.waitForTransaction(hash)));
    expect(await chain.balanceOf(to)).toBe(5_000_000n);
  });

  it('sends a sandbox transfer once under one Idempotency-Key', async () => {
    const { merchant, chain } = test;
    const { id, wallet: to } = await createPayee(merchant);
    const key = randomUUID();
    const first = await merchant.post(TRANSFERS, { to, amount: '3' }, key);
    const again = await merchant.post(TRANSFERS, { to, amount: '3' }, key);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    const { transaction_hash } = first.json();
    await chain.provider.waitForTransaction(transaction_hash);
    expect(await chain.balanceOf(to)).toBe(3_000_000n);
    const payout = await reported(merchant, id, { amount: '3', transaction_hash });
    expect((await settledPayout(merchant, payout.id)).status).toBe('received');
  });

  it.each([
    ['an invalid address', { to: 'somebody', amount: '1' }, ['to']],
    ['a wrong checksum', { to: '0x8464135c8F25Da09e49BC8782676a84730C318bc', amount: '1' }, ['to']],
    ['an amount of zero', { to: '0x8464135c8f25da09e49bc8782676a84730c318bc', amount: '0' }, ['amount']],
    ['an amount as a number', { to: '0x8464135c8f25da09e49bc8782676a84730c318bc', amount: 1 }, ['amount']],
    ['too much', { to: '0x8464135c8f25da09e49bc8782676a84730c318bc', amount: '1000000.000001' }, ['amount']],
    ['an empty body', {}, ['to', 'amount']],
  ])('responds with 422 to a sandbox transfer with %s', async (_, body, fields) => {
    const response = await test.merchant.post(TRANSFERS, body);
    expect(response.status).toBe(422);
    expect(Object.keys(response.json().errors)).toEqual(fields);
  });

  it('sends responses that match the OpenAPI document, and one that does not is detected', async () => {
    const { merchant } = test;
    const { id } = await createPayee(merchant);
    // The client checks each of its responses.
    const good = await merchant.get(`${USERS}/${id}`);
    await merchant.get(`${USERS}/x`);
    await merchant.get(`${USERS}/${id}`, { 'svc-signature': 'x' });
    await merchant.get(`${USERS}/${id}`, { 'svc-signature': 'x', accept: 'text/plain' });
    const checker = await ContractChecker.of(test.url);
    checker.expect('GET', '/health/ready', await send(`${test.url}/health/ready`));
    checker.expect('GET', '/openapi.json', await send(`${test.url}/openapi.json`));
    const check = (change: Partial<ApiResponse>, text = good.text) => {
      const response = { ...good, text, json: <T>() => JSON.parse(text) as T, ...change };
      return () => checker.expect('GET', `${USERS}/${id}`, response);
    };
    expect(check({})).not.toThrow();
    expect(check({ status: 418 })).toThrow('418 is not in the OpenAPI document');
    expect(check({ headers: { 'content-type': 'text/html' } })).toThrow('text/html');
    expect(check({}, good.text.replaceAll(id, '7'))).toThrow('must match format "uuid"');
    expect(check({}, '{}')).toThrow("must have required property 'user'");
    expect(() => checker.expect('GET', '/nowhere', good)).toThrow('/nowhere is not in the OpenAPI document');
  });

  it('has every route in its OpenAPI document, and every path of the document as a route', async () => {
    const served = await document();
    const pages = ['GET /', 'GET /favicon.ico'];
    expect(routeDifferences(routes(), served)).toEqual({ undocumented: pages, unserved: [] });
    expect(Object.keys(served.paths)).toEqual(
      expect.arrayContaining([
        USERS,
        REPORT,
        '/merchants/v1/webhook_endpoints/{id}/test_delivery',
        TRANSFERS,
      ]),
    );
    const others = [{ method: 'POST', url: '/new' }, ...routes().filter(({ url }) => url !== '/health/live')];
    const differences = { undocumented: [...pages, 'POST /new'], unserved: ['GET /health/live'] };
    expect(routeDifferences(others, served)).toEqual(differences);
  });

  it('has its operations in the OpenAPI document in the order in which integrators need them', async () => {
    const { tags, paths, webhooks } = (await (await fetch(`${test.url}/openapi.json`)).json()) as {
      tags: { name: string }[];
      paths: Record<string, Record<string, { tags: string[] }>>;
      webhooks: Record<string, Record<string, { tags: string[] }>>;
    };
    const used = Object.values({ ...paths, ...webhooks }).flatMap((each) =>
      Object.values(each).flatMap((one) => one.tags),
    );
    expect(new Set(used)).toEqual(new Set(tags.map(({ name }) => name)));
    expect(tags.map(({ name }) => name)).toEqual([
      ...['Users', 'Payouts', 'Webhook endpoints', 'Webhook deliveries', 'Events', 'Exchange orders'],
      ...['Exchange', 'Webhooks', 'Portal sessions', 'Audit', 'Sandbox', 'Documentation', 'Health'],
      ...['merchants', 'credentials', 'operators', 'users', 'payouts', 'orders'].map((of) => `Admin: ${of}`),
      ...['webhooks', 'requests', 'system', 'operations', 'audit', 'search'].map((of) => `Admin: ${of}`),
    ]);
    expect(Object.keys(paths)[0]).toBe('/merchants/v1/users');
    expect(Object.keys(paths).at(-1)).toBe('/admin/v1/search');
  });

  it('reports every dependency as ok once the service is ready', async () => {
    const response = await eventually(async () => {
      const each = await fetch(`${test.url}/health/ready`);
      return each.status === 200 && each;
    });
    const { checks } = (await response.json()) as { checks: Record<string, { status: string }> };
    expect(Object.keys(checks).sort()).toEqual([
      ...['chain', 'clock', 'database', 'event_store', 'exchange', 'ledger', 'master_key', 'onboarding'],
      ...['queue', 'subscriptions', 'views'],
    ]);
    expect(Object.values(checks).every(({ status }) => status === 'ok')).toBe(true);
  });

  it('is not ready, with a reason, while the node of the chain is unavailable', async () => {
    await test.chain.stop();
    const response = await freshReport(() => fetch(`${test.url}/health/ready`));
    expect(response.status).toBe(503);
    const { checks } = (await response.json()) as { checks: Record<string, { status: string }> };
    expect(checks['chain']?.status).toBe('unavailable');
    expect(checks['database']?.status).toBe('ok');
  });
});

describe('a service outside the sandbox', () => {
  const logFile = join(specFolder('production'), 'service.log');
  const test = onTestApp({
    MODE: 'production',
    PUBLIC_URL: 'https://api.example.com',
    LOG_LEVEL: 'warn',
    LOG_FILE: logFile,
  });

  it.each([
    [TRANSFERS, { to: '0x0000000000000000000000000000000000000001', amount: '1' }],
    ['/merchants/v1/sandbox/users/90c24bb3-327c-857c-bd44-e5155e389be6/complete_onboarding', undefined],
  ])('does not serve %s', async (path, body) => {
    const response = await test.merchant.call({
      method: 'POST',
      path,
      ...(body === undefined ? {} : { body }),
    });
    expect(response.status).toBe(404);
  });

  it('sends webhooks only to public addresses over https', async () => {
    const path = '/merchants/v1/webhook_endpoints';
    const created = await test.merchant.post(path, { webhook_endpoint: { url: 'https://8.8.8.8/' } });
    const { id } = created.json().webhook_endpoint;
    for (const [url, reason] of [
      ['https://127.0.0.1/', /loopback/],
      ['https://localhost/', /not public/],
      ['http://8.8.8.8/', /https/],
    ] as const) {
      const body = { webhook_endpoint: { url } };
      const changed = await test.merchant.call({ method: 'PATCH', path: `${path}/${id}`, body });
      for (const { status, json } of [await test.merchant.post(path, body), changed])
        expect([status, json()]).toMatchObject([422, { errors: { url: [expect.stringMatching(reason)] } }]);
    }
  });

  it('creates no exchange order without a provider, and readiness names the missing provider', async () => {
    const query = { pair_id: 'USDCSOL', withdraw_address: '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV' };
    expect((await test.exchange.open.order(query)).status).toBe(503);
    const ready = await fetch(`${test.url}/health/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([
      200,
      { checks: { exchange: { detail: 'no exchange provider is configured: no order can be created' } } },
    ]);
    expect(readFileSync(logFile, 'utf8')).toContain(
      'exchange orders are disabled: EXCHANGE_PROVIDER is not set',
    );
  });
});

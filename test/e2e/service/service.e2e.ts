import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EdgeAdapter } from '../../../src/platform/http/fastify-adapter.js';
import { onTestApp, startTestApp, type TestApp } from '../../support/app.js';
import { routeDifferences } from '../../support/http/openapi.js';
import { specFolder } from '../../support/run-folder.js';

describe('the whole service', () => {
  const test = onTestApp();

  it('has every route in its OpenAPI document, and every path of the document as a route', async () => {
    const document = (await (await fetch(`${test.url}/openapi.json`)).json()) as Parameters<
      typeof routeDifferences
    >[1];
    const adapter = test.app.getHttpAdapter() as unknown as EdgeAdapter;
    expect(routeDifferences(adapter.routes.list(), document)).toEqual({ undocumented: [], unserved: [] });
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        '/merchants/v1/users',
        '/merchants/v1/payouts/report',
        '/merchants/v1/webhook_endpoints/{id}/test_delivery',
        '/merchants/v1/sandbox/transfers',
      ]),
    );
  });

  it('has its operations in the order in which an integrator needs them', async () => {
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
      ...[
        'Users',
        'Payouts',
        'Webhook endpoints',
        'Webhook deliveries',
        'Events',
        'Exchange orders',
        'Exchange',
        'Webhooks',
        'Audit',
        'Sandbox',
        'Documentation',
        'Health',
      ],
    ]);
    expect(Object.keys(paths)[0]).toBe('/merchants/v1/users');
    expect(Object.keys(paths).at(-1)).toBe('/health/ready');
  });

  it('tells of each dependency when it is ready', async () => {
    const response = await fetch(`${test.url}/health/ready`);
    expect(response.status).toBe(200);
    const { checks } = (await response.json()) as { checks: Record<string, { status: string }> };
    expect(Object.keys(checks).sort()).toEqual([
      'chain',
      'clock',
      'database',
      'event_store',
      'exchange',
      'ledger',
      'master_key',
      'onboarding',
      'queue',
      'subscriptions',
      'views',
    ]);
    expect(Object.values(checks).every(({ status }) => status === 'ok')).toBe(true);
  });

  it('is not ready, and says why, when the node of the chain is unavailable', async () => {
    await test.chain.stop();
    const response = await fetch(`${test.url}/health/ready`);
    expect(response.status).toBe(503);
    const { checks } = (await response.json()) as { checks: Record<string, { status: string }> };
    expect(checks['chain']?.status).toBe('unavailable');
    expect(checks['database']?.status).toBe('ok');
  });
});

describe('outside the sandbox', () => {
  const logFile = join(specFolder('production'), 'service.log');
  let test: TestApp;

  beforeAll(async () => {
    test = await startTestApp({
      MODE: 'production',
      PUBLIC_URL: 'https://api.example.com',
      LOG_LEVEL: 'warn',
      LOG_FILE: logFile,
    });
  });

  afterAll(() => test.close());

  it.each([
    ['/merchants/v1/sandbox/transfers', { to: '0x0000000000000000000000000000000000000001', amount: '1' }],
    ['/merchants/v1/sandbox/users/90c24bb3-327c-857c-bd44-e5155e389be6/complete_onboarding', undefined],
  ])('there is no %s', async (path, body) => {
    const response = await test.merchant.call({
      method: 'POST',
      path,
      ...(body === undefined ? {} : { body }),
    });
    expect(response.status).toBe(404);
  });

  it('the document does not speak of the sandbox', async () => {
    const text = await (await fetch(`${test.url}/openapi.json`)).text();
    expect(text).not.toContain('/sandbox/');
  });

  it('there are no exchange orders without a provider, and the service is ready and says so', async () => {
    const query = { pair_id: 'USDCSOL', withdraw_address: 'So11111111111111111111111111111111111111112' };
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

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { createMerchant } from '../../../sandbox/issuing.js';
import { registry } from '../../../src/platform/telemetry/metrics.js';
import { HealthRegistry } from '../../../src/platform/telemetry/health.js';
import { eventually } from '../../support/eventually.js';
import { TERMS, Widget } from '../../support/onboarding/widget-harness.js';

const PROXIED = { 'x-forwarded-proto': 'https' };
let widget: Widget;

describe('the onboarding page behind a proxy', () => {
  beforeAll(async () => {
    widget = await Widget.start({
      REQUIRE_HTTPS: 'true',
      TRUST_PROXY: '127.0.0.1',
      RATE_LIMIT_PER_MINUTE: '10',
      RATE_LIMIT_PER_IP_PER_MINUTE: '50',
    });
  });
  afterAll(() => widget?.close());

  it('403: refuses requests without https on every route and with every method', async () => {
    const visitor = await widget.visitor();
    for (const proto of [undefined, 'http']) {
      const headers: Record<string, string> = proto === undefined ? {} : { 'x-forwarded-proto': proto };
      const responses = [
        await visitor.page({ headers: { ...headers, accept: 'text/html' } }),
        await visitor.page({ headers, method: 'DELETE' }),
        await visitor.step('code', { phone_number: visitor.phone }, headers),
        await fetch(`${widget.url}/elsewhere`, { headers }),
      ];
      for (const response of responses) {
        expect([response.status, response.headers.get('cache-control')]).toEqual([403, 'no-store']);
        expect(response.headers.get('strict-transport-security')).toBeNull();
        expect(await response.text()).toContain('HTTPS is required');
      }
    }
    expect(await widget.codesOf(visitor)).toBe(0);
    const page = await visitor.page({ headers: PROXIED });
    const headers = ['strict-transport-security', 'cache-control'].map((each) => page.headers.get(each));
    expect([page.status, ...headers]).toEqual([200, 'max-age=31536000', 'no-store']);
  });

  it('429: refuses the 11th request of an address for one user, and serves other users and addresses', async () => {
    const [visitor, other] = [await widget.visitor(), await widget.visitor()];
    const from = (last: number) => ({ headers: { ...PROXIED, 'x-forwarded-for': `198.51.100.${last}` } });
    for (let i = 0; i < 10; i += 1) expect((await visitor.page(from(1))).status).toBe(200);
    const refused = await visitor.page(from(1));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const step = await visitor.step('code', { phone_number: visitor.phone }, from(1).headers);
    expect(step.status).toBe(429);
    expect((await other.page(from(1))).status).toBe(200);
    expect((await visitor.page(from(2))).status).toBe(200);
  });

  it('429: allows each address 10 requests for a merchant, plus 50 that all addresses share', async () => {
    const { merchantId } = await createMerchant(widget.people.commandBus, 'Crowded shop');
    const request = async (merchant: string, last: number): Promise<number> => {
      const headers = { ...PROXIED, 'x-forwarded-for': `203.0.113.${last}` };
      const address = `${widget.url}/onboarding?merchant_id=${merchant}&user_id=${randomUUID()}`;
      return (await fetch(address, { headers })).status;
    };
    // The limits are ten per address, and fifty for all together.
    const statuses = await Promise.all(Array.from({ length: 71 }, (_, i) => request(merchantId, i % 2)));
    expect(statuses.sort()).toEqual([...Array<number>(70).fill(404), 429]);
    for (let i = 0; i < 10; i += 1) expect(await request(merchantId, 7)).toBe(404);
    expect(await request(merchantId, 7)).toBe(429);
    expect(await request(widget.merchantId, 1)).toBe(404);
  });
});

const PRODUCTION = {
  MODE: 'production',
  PUBLIC_URL: 'https://api.example',
  REQUIRE_HTTPS: 'false',
  RATE_LIMIT_PER_MINUTE: '10000',
  CHAIN_RPC_URL: 'http://127.0.0.1:1',
  USDC_ADDRESS: `0x${'1'.repeat(40)}`,
  PAY_URL: 'https://pay.example',
  ...TERMS,
};
const checkOf = async (name: string) =>
  (await widget.people.module.get(HealthRegistry, { strict: false }).report()).checks[name];

describe('the onboarding page in production', () => {
  beforeAll(async () => {
    widget = await Widget.start(PRODUCTION);
  });
  afterAll(() => widget?.close());

  it('503: sends no code without a provider; readiness and metrics name the missing providers', async () => {
    const visitor = await widget.visitor();
    expect((await visitor.step('code', { phone_number: visitor.phone })).status).toBe(503);
    const missing = [
      'codes by SMS (ONBOARDING_SMS)',
      'identity verification (ONBOARDING_IDENTITY)',
      ...['wallets (ONBOARDING_WALLETS)', 'cards (ONBOARDING_CARDS)'],
    ];
    expect(await checkOf('onboarding')).toEqual({
      status: 'ok',
      detail: `no provider for ${missing.join(', ')}: onboardings wait`,
    });
    for (const port of ['card', 'identity', 'sms', 'wallet'])
      expect(await registry.metrics()).toMatch(
        new RegExp(`disburse_onboarding_providers\\{port="${port}",provider="none".*\\} 1`),
      );
  });

  it('has the configured terms and nothing of the sandbox', async () => {
    const visitor = await widget.visitor();
    expect((await visitor.page()).status).toBe(200);
    expect(await checkOf('onboarding_terms')).toBeUndefined();
    expect((await visitor.step('inbox')).status).toBe(404);
  });

  it('can be framed by no origin until the merchant lists origins, and then only by those origins', async () => {
    const visitor = await widget.visitor();
    expect(await widget.framersFor(visitor)).toBe("frame-ancestors 'none'");
    await expect(widget.embed({ origins: ['http://localhost:3000'] })).rejects.toMatchObject({
      code: 'validation_failed',
    });
    await widget.embed({ origins: ['https://shop.example'] });
    await eventually(
      async () => (await widget.framersFor(visitor)) === 'frame-ancestors https://shop.example',
    );
  });

  it('logs a refused frame once per merchant', async () => {
    await widget.embed({ origins: [] });
    const visitor = await widget.visitor();
    await eventually(async () => (await widget.framersFor(visitor)) === "frame-ancestors 'none'");
    const warn = jest.spyOn(Logger.prototype, 'warn');
    await visitor.page({ headers: { 'sec-fetch-dest': 'document' } });
    expect(warn).not.toHaveBeenCalled();
    for (let i = 0; i < 2; i += 1) await visitor.page({ headers: { 'sec-fetch-dest': 'iframe' } });
    expect(warn.mock.calls).toEqual([
      [
        expect.objectContaining({
          msg: expect.stringContaining('npm run admin -- merchants update'),
          merchant_id: widget.merchantId,
        }),
      ],
    ]);
    warn.mockRestore();
  });
});

describe('the onboarding page in production without terms (contract.md 18.8)', () => {
  beforeAll(async () => {
    widget = await Widget.start({ ...PRODUCTION, ONBOARDING_TERMS_VERSION: '' });
  });
  afterAll(() => widget?.close());

  it('503: sends no code, and readiness names the missing terms', async () => {
    const visitor = await widget.visitor();
    const page = await visitor.page({ headers: { accept: 'text/html' } });
    const trouble = expect.stringContaining('We are having technical problems');
    expect([page.status, await page.text()]).toEqual([503, trouble]);
    const code = await visitor.step('code', { phone_number: visitor.phone });
    expect([code.status, await code.json()]).toMatchObject([
      503,
      { detail: 'The terms are not available yet' },
    ]);
    expect(await widget.codesOf(visitor)).toBe(0);
    expect(await widget.eventsOf(visitor)).toEqual([]);
    expect(await checkOf('onboarding_terms')).toEqual({
      status: 'ok',
      detail: 'onboarding unavailable: ONBOARDING_TERMS_VERSION not set',
    });
    expect((await fetch(`${widget.url}/onboarding/terms`)).status).toBe(404);
  });
});

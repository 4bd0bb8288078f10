import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { RegisterMerchant } from '../../../src/contexts/access/contract.js';
import { Widget } from '../../support/onboarding/widget-harness.js';

const PROXIED = { 'x-forwarded-proto': 'https' };

describe('the widget behind a proxy', () => {
  let widget: Widget;

  beforeAll(async () => {
    widget = await Widget.start({
      REQUIRE_HTTPS: 'true',
      TRUST_PROXY: '127.0.0.1',
      RATE_LIMIT_PER_MINUTE: '10',
      RATE_LIMIT_PER_IP_PER_MINUTE: '50',
    });
  });
  afterAll(() => widget?.close());

  it('403: what came in the clear, on every route and by every method', async () => {
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

  it('429: the eleventh request of an address for one user; other addresses are served', async () => {
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

  it('429: the 71st request of two addresses for a merchant; other addresses are served', async () => {
    const { merchantId } = await widget.people.commandBus.execute(new RegisterMerchant('Crowded shop'));
    const request = async (merchant: string, last: number): Promise<number> => {
      const headers = { ...PROXIED, 'x-forwarded-for': `203.0.113.${last}` };
      const address = `${widget.url}/onboarding?merchant_id=${merchant}&user_id=${randomUUID()}`;
      return (await fetch(address, { headers })).status;
    };
    // Ten of each address, and fifty of all together.
    const statuses = await Promise.all(Array.from({ length: 71 }, (_, i) => request(merchantId, i % 2)));
    expect(statuses.sort()).toEqual([...Array<number>(70).fill(404), 429]);
    for (let i = 0; i < 10; i += 1) expect(await request(merchantId, 7)).toBe(404);
    expect(await request(merchantId, 7)).toBe(429);
    expect(await request(widget.merchantId, 1)).toBe(404);
  });
});

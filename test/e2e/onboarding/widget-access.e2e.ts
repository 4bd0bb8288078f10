import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import {
  ReinstateMerchant,
  SuspendMerchant,
} from '../../../src/contexts/access/application/merchant-commands.js';
import { RegisterMerchant } from '../../../src/contexts/access/contract.js';
import { eventually } from '../../support/eventually.js';
import { framersOf, Widget } from '../../support/onboarding/widget-harness.js';

const STEPS = ['code', 'phone', 'details', 'identity', 'state', 'inbox'];
const PROXIED = { 'x-forwarded-proto': 'https' };

describe('access to the widget', () => {
  let widget: Widget;

  beforeAll(async () => {
    widget = await Widget.start();
  });
  afterAll(() => widget?.close());

  it('opening the page starts nothing; the first request for a code does', async () => {
    const visitor = await widget.visitor();
    expect((await visitor.page()).status).toBe(200);
    expect((await visitor.page({ method: 'HEAD' })).status).toBe(200);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect((await visitor.page({ method })).status).toBe(404);
    for (const name of STEPS.slice(1, 5)) expect((await visitor.step(name)).status).not.toBe(200);
    expect((await visitor.step('code', { phone_number: '+15559999999' })).status).toBe(422);
    expect(await widget.eventsOf(visitor)).toEqual([]);
    expect((await visitor.step('code', { phone_number: visitor.phone })).status).toBe(200);
    expect((await visitor.step('code', { phone_number: visitor.phone })).status).toBe(409);
    expect((await visitor.page()).status).toBe(200);
    expect(await widget.eventsOf(visitor)).toEqual(['onboarding.started.v1']);
  });

  it('403: nothing is served for a merchant that is suspended, and no code is sent', async () => {
    const visitor = await widget.visitor();
    await widget.people.commandBus.execute(new SuspendMerchant(widget.merchantId));
    await eventually(async () => (await visitor.page()).status === 403);
    const html = await (await visitor.page({ headers: { accept: 'text/html' } })).text();
    expect(html).not.toContain(visitor.phone);
    expect((await visitor.page({ method: 'HEAD' })).status).toBe(403);
    for (const name of STEPS) {
      const response = await visitor.step(name, { phone_number: visitor.phone, code: '000000' });
      expect([name, response.status, await response.json()]).toEqual([
        name,
        403,
        expect.objectContaining({ detail: 'The merchant is suspended' }),
      ]);
    }
    expect(await widget.codesOf(visitor)).toBe(0);
    expect(await widget.eventsOf(visitor)).toEqual([]);
    await widget.people.commandBus.execute(new ReinstateMerchant(widget.merchantId));
    await eventually(async () => (await visitor.page()).status === 200);
  });

  it('refusals are displayed in no frame', async () => {
    const visitor = await widget.visitor();
    const refused = [
      await fetch(`${widget.url}/onboarding`, { headers: { accept: 'text/html' } }),
      await fetch(`${widget.url}/elsewhere`, { headers: { accept: 'text/html' } }),
      await fetch(`${widget.url}/onboarding`),
      await fetch(`${widget.url}/%`),
      await visitor.step('phone'),
      await visitor.step('nonsense'),
    ];
    for (const response of refused) {
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(framersOf(response)).toBe("frame-ancestors 'none'");
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

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

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/internal';
import { ModulesContainer } from '@nestjs/core';
import { ROLES, ROLE_SCOPES, SCOPES, type Role } from '../../../src/contexts/access/operators/roles.js';
import { PORTAL_SCOPES } from '../../../src/contexts/access/portal/portal-session.js';
import { PORTAL_SCOPES_KEY } from '../../../src/platform/http/admin/portal.guard.js';
import { findSharedRoute } from '../../../src/platform/http/pages/page.js';
import { SCOPES_KEY } from '../../../src/platform/openapi/route.js';
import { createResources } from '../../support/access/resources.js';
import type { AdminCall, AdminClient } from '../../support/admin/admin-client.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { createPortalSession, PortalBrowser } from '../../support/http/portal-browser.js';
import { send, type ApiResponse } from '../../support/http/signed-client.js';

const app = await sharedApp();

interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly handler: object;
}

/** Returns every route that a controller of the service declares, on any listener. */
function routesOf(): readonly Route[] {
  const controllers = [...app.app.get(ModulesContainer).values()].flatMap((module) => [
    ...module.controllers.values(),
  ]);
  return controllers.flatMap(({ metatype }) => {
    const { prototype } = metatype as { readonly prototype: object };
    const prefix = Reflect.getMetadata(PATH_METADATA, metatype!) as string;
    return Object.getOwnPropertyNames(prototype).flatMap((name) => {
      const handler = (prototype as Record<string, object>)[name]!;
      const verb = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      if (verb === undefined) return [];
      const method = RequestMethod[verb] as Route['method'];
      const own = [Reflect.getMetadata(PATH_METADATA, handler) as string | string[]].flat();
      const shared = findSharedRoute(handler);
      const urls = own.map((path) => `/${prefix}/${path}`.replace(/\/+/g, '/').replace(/(.)\/$/, '$1'));
      return [...urls, ...(shared === null ? [] : [shared.url])].map((url) => ({ method, url, handler }));
    });
  });
}

/** Routes without a caller: documents, links that are sessions themselves, health. */
const OPEN = /^\/(\*|health|docs|openapi|icons|onboarding|callbacks|session|login|logout|enrol|pay|widget)/;
const APIS = ['/merchants/v1/', '/v1/', '/admin/v1/', '/api/v1/'] as const;

/** The union of all required members. */
const BODY = {
  webhook_endpoint: { description: 'of a stranger' },
  since: new Date().toISOString(),
  reason: 'a test of every route',
  decision: 'approve',
  amount: '1',
  transaction_hash: `0x${'ab'.repeat(32)}`,
};

const withIds = (url: string, id: string = randomUUID()): string => url.replace(/:[a-z_]+/gi, id);
const isWrite = ({ method }: Route): boolean => method !== 'GET';

const routes = routesOf();
const ids = await createResources(app);
const portal = new URL((await createPortalSession(app.merchant)).url).origin;
const operator = await app.newAdmin();
const confined = await app.newAdmin({ merchants: [app.secondMerchant.credentials.apiKey] });
const { baseUrl: admin } = operator;
const origins = { '/merchants/v1/': app.url, '/v1/': app.url, '/admin/v1/': admin, '/api/v1/': portal };

describe('every route', () => {
  const under = (api: (typeof APIS)[number]): readonly Route[] =>
    routes.filter(({ url }) => `${url}/`.startsWith(api));

  const statuses = async (
    from: readonly Route[],
    call: (route: Route) => Promise<ApiResponse>,
  ): Promise<readonly string[]> => {
    const all: string[] = [];
    for (const route of from) all.push(`${route.method} ${route.url} ${(await call(route)).status}`);
    return all;
  };
  const expected = (from: readonly Route[], status: number): readonly string[] =>
    from.map(({ method, url }) => `${method} ${url} ${status}`);

  it('belongs to an API or is public on purpose', () => {
    const others = routes.filter((route) => !APIS.some((api) => under(api).includes(route)));
    expect(others.map(({ url }) => url).filter((url) => url !== '/' && !OPEN.test(url))).toEqual([]);
    for (const api of APIS) expect(under(api).length).toBeGreaterThan(5);
    for (const [api, key, known] of [
      ['/api/v1/', PORTAL_SCOPES_KEY, PORTAL_SCOPES],
      ['/admin/v1/', SCOPES_KEY, SCOPES],
    ] as const)
      for (const { handler } of under(api))
        expect(known).toEqual(expect.arrayContaining(Reflect.getMetadata(key, handler) as string[]));
    expect([under('/api/v1/').length > 20, under('/admin/v1/').length > 40]).toEqual([true, true]);
  });

  it.each(APIS)('under %s refuses missing credentials and credentials of another API', async (api) => {
    const browser = await PortalBrowser.enter((await createPortalSession(app.merchant)).url);
    const { key } = await app.newAdmin();
    const foreign = {
      ...(api !== '/admin/v1/' && { authorization: `Bearer ${key}` }),
      ...(api !== '/api/v1/' && { cookie: `portal=${browser.token}; console=${browser.token}` }),
      origin: origins[api],
    };
    for (const headers of [{}, foreign]) {
      const found = await statuses(under(api), ({ method, url }) =>
        send(origins[api] + withIds(url), { method, headers }),
      );
      expect(found).toEqual(expected(under(api), 401));
    }
  });

  const expectLetIn = (route: string, response: ApiResponse, missing: string | undefined): void => {
    const got = `${route} ${response.status}`;
    if (missing === undefined) expect(got).not.toMatch(/ (401|403|500)$/);
    else {
      expect(got).toBe(`${route} 403`);
      expect(response.json()).toMatchObject({ detail: `The scope ${missing} is missing` });
    }
  };

  it.each(PORTAL_SCOPES)('of the portal accepts a session with %s if that scope suffices', async (scope) => {
    const merchant = await app.newMerchant();
    const browser = await PortalBrowser.enter((await createPortalSession(merchant, { scopes: [scope] })).url);
    for (const { method, url, handler } of under('/api/v1/')) {
      const needed = Reflect.getMetadata(PORTAL_SCOPES_KEY, handler) as readonly string[];
      const path = withIds(url);
      const response =
        method === 'GET' ? await browser.get(path) : await browser.post(path, undefined, {}, method);
      expectLetIn(
        `${method} ${url}`,
        response,
        needed.find((each) => each !== scope),
      );
    }
  });

  const KEYS = [
    ...ROLES.map((role) => [`the role ${role}`, { role }, ROLE_SCOPES[role]] as const),
    ...SCOPES.map((scope) => [`the scope ${scope}`, { scopes: [scope] }, [scope]] as const),
    ['no scope', { scopes: [] }, []] as const,
  ] as readonly (readonly [string, { role?: Role; scopes?: string[] }, readonly string[]])[];

  it.each(KEYS)('of the admin API accepts a key with %s if its scopes suffice', async (_, key, scopes) => {
    const admin = await app.newAdmin(key);
    for (const { method, url, handler } of under('/admin/v1/')) {
      const needed = Reflect.getMetadata(SCOPES_KEY, handler) as readonly string[];
      // A caller with access changes nothing without a body.
      const headers = { authorization: `Bearer ${admin.key}` };
      const response = await send(admin.baseUrl + withIds(url), { method, headers });
      expectLetIn(
        `${method} ${url}`,
        response,
        needed.find((each) => !scopes.includes(each)),
      );
    }
  });

  it('of the admin API and merchant API refuses a key from an address outside its allow-list', async () => {
    const [owner, merchant] = [await app.newAdmin(), await app.newMerchant()];
    const elsewhere = ['203.0.113.0/24'];
    const change = { ip_allow_list: elsewhere, reason: 'a test' };
    const changed = await owner.change(`/merchants/${merchant.credentials.apiKey}`, '', change);
    expect(changed.status).toBe(200);
    const admin = await app.newAdmin({ addresses: elsewhere });
    const headers = { authorization: `Bearer ${admin.key}` };
    expect(
      await statuses(under('/admin/v1/'), ({ method, url }) =>
        send(admin.baseUrl + withIds(url), { method, headers }),
      ),
    ).toEqual(expected(under('/admin/v1/'), 403));
    await eventually(async () => (await merchant.get('/merchants/v1/payouts')).status === 403);
    expect(
      await statuses(under('/merchants/v1/'), ({ method, url }) =>
        merchant.call({ method, path: withIds(url) }),
      ),
    ).toEqual(expected(under('/merchants/v1/'), 403));
  });

  describe('of a resource', () => {
    const single = (api: (typeof APIS)[number]): readonly Route[] =>
      under(api).filter(({ url }) => url.includes('/:id'));
    const target = (url: string): string => withIds(url, ids.get(/([a-z_]+)\/:id/.exec(url)![1]!)!);

    it('is hidden from a session of another merchant', async () => {
      const session = await createPortalSession(app.secondMerchant, { scopes: PORTAL_SCOPES });
      const browser = await PortalBrowser.enter(session.url);
      const inPortal = await statuses(single('/api/v1/'), (route) =>
        isWrite(route)
          ? browser.post(target(route.url), BODY, {}, route.method)
          : browser.get(target(route.url)),
      );
      expect(inPortal).toEqual(expected(single('/api/v1/'), 404));
    });

    it('is hidden from an operator whose key is confined to another merchant', async () => {
      const reads = single('/admin/v1/').filter((route) => !isWrite(route));
      const read = (by: AdminClient): Promise<readonly string[]> =>
        statuses(reads, ({ url }) => by.get(target(url).slice('/admin/v1'.length)));
      expect(await read(confined)).toEqual(expected(reads, 404));
      const displayed = (await read(operator)).filter((each) => each.endsWith(' 200'));
      expect(displayed.length).toBeGreaterThan(6);
    });

    describe('in the admin API', () => {
      const ofMerchants = single('/admin/v1/').filter(({ url }) =>
        /^\/admin\/v1\/(merchants|credentials|users|orders|payouts|deliveries)\/:id/.test(url),
      );
      const named = ofMerchants.map((route) => [`${route.method} ${route.url}`, route] as const);
      const call = (by: AdminClient, { method }: Route, path: string, ifMatch = '"0"') =>
        by.call({
          method: method as NonNullable<AdminCall['method']>,
          path: path.slice('/admin/v1'.length),
          ...(method !== 'GET' && { body: BODY, ifMatch }),
        });

      it('is tested here, including parts of a resource such as the proof of a payout', () => {
        expect(named.map(([name]) => name)).toEqual(
          expect.arrayContaining([
            ...['proof', 'evidence', 'checks'].map((part) => `GET /admin/v1/payouts/:id/${part}`),
            ...['POST /admin/v1/deliveries/:id/resend', 'POST /admin/v1/orders/:id/refunds'],
          ]),
        );
      });

      it.each(named)('%s returns 404 and changes nothing for a key of another merchant', async (_, route) => {
        const [, , , resource = ''] = route.url.split('/');
        const read = `/${resource}/${ids.get(resource)!}`;
        const before = await operator.get(read);
        expect(before.status).toBe(200);
        const found = await call(confined, route, target(route.url), before.headers['etag']);
        expect(found.status).toBe(404);
        const after = await operator.get(read);
        expect(after.headers['etag']).toBe(before.headers['etag']);
        // A delivery has no revision. Its attempts show whether it was sent again.
        if (resource === 'deliveries') expect(after.text).toBe(before.text);
      });

      it.each(named)('%s returns 404 for an unknown id and for an id that is no UUID', async (_, route) => {
        for (const id of [randomUUID(), 'no-uuid'])
          expect((await call(operator, route, withIds(route.url, id))).status).toBe(404);
      });

      it('replays no response to a key of the same operator that is confined to another merchant', async () => {
        const merchants = [app.secondMerchant.credentials.apiKey];
        const narrow = await app.newAdmin({ operatorId: operator.operatorId, merchants });
        const resend = (by: AdminClient) =>
          by.post(
            `/deliveries/${ids.get('deliveries')}/resend`,
            { reason: 'sent again' },
            { idempotencyKey },
          );
        const idempotencyKey = randomUUID();
        const first = await resend(operator);
        expect(first.status).toBe(200);
        expect((await resend(narrow)).status).toBe(404);
        expect((await resend(operator)).text).toBe(first.text);
      });

      it('lists nothing of one merchant for a key that is confined to another merchant', async () => {
        for (const each of ['credentials', 'users', 'payouts', 'orders', 'webhook_endpoints', 'deliveries']) {
          const response = await confined.get(`/${each}?merchant_id=${ids.get('merchants')}`);
          // Some lists name the merchant as unknown.
          if (response.status !== 404)
            expect(response.json()).toMatchObject({ [each]: [], next_cursor: null });
        }
      });
    });

    it('is visible to a session of its merchant', async () => {
      const browser = await PortalBrowser.enter((await createPortalSession(app.merchant)).url);
      const reads = single('/api/v1/').filter((route) => !isWrite(route));
      // 409 means that the payout has no evidence yet, 503 that no signed head covers its events yet.
      for (const { url } of reads) expect([200, 409, 503]).toContain((await browser.get(target(url))).status);
    });
  });
});

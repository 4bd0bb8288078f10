import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sharedApp, onTestApp } from '../../support/app.js';
import { PAY_PAGE } from '../../../src/contexts/exchange/pay/pay-page.controller.js';
import { ConsoleSite } from '../../support/access/console-site.js';
import { createPortalSession, PortalBrowser } from '../../support/http/portal-browser.js';
import { send } from '../../support/http/signed-client.js';
import { pageUrl } from '../../support/onboarding/people.js';

const SESSIONS = '/merchants/v1/portal_sessions';
const ACTOR = { id: 'u-17', name: 'Ada Lovelace' };

const app = await sharedApp();

const listed = async (): Promise<Record<string, unknown>[]> =>
  (await app.merchant.get(SESSIONS)).json<{ portal_sessions: Record<string, unknown>[] }>().portal_sessions;

describe('POST /merchants/v1/portal_sessions', () => {
  it('returns a session with the default scopes and a link with its code in the fragment', async () => {
    const body = { actor: ACTOR, return_url: 'https://backoffice.example/' };
    const { portal_session, url } = await createPortalSession(app.merchant, body);
    expect(portal_session).toMatchObject({
      ...body,
      status: 'pending',
      session_expires_at: null,
      last_seen_at: null,
    });
    expect([...portal_session.scopes].sort()).toEqual([
      ...['deliveries:read', 'deliveries:write', 'endpoints:read', 'endpoints:write', 'events:read'],
      ...['keys:read', 'orders:read', 'payouts:read', 'requests:read', 'usage:read'],
    ]);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/enter#[A-Za-z0-9_-]{64}$/);
    expect(await listed()).toContainEqual(portal_session);
  });

  it('returns the same link under the same Idempotency-Key and stores neither code nor name in clear', async () => {
    const key = randomUUID();
    const [first, second] = [
      await app.merchant.post(SESSIONS, { actor: ACTOR }, key),
      await app.merchant.post(SESSIONS, { actor: ACTOR }, key),
    ];
    expect([second.status, second.text]).toEqual([201, first.text]);
    const code = new URL(first.json().url).hash.slice(1);
    const [row] = await app.database.query<{ text: string }>(
      `select (select string_agg(e::text, ' ') from event_store.events e) ||
              (select string_agg(r::text, ' ') from event_store.responses r) ||
              (select string_agg(s::text, ' ') from access.portal_sessions s) as text`,
    );
    expect(row!.text).toContain(first.json().portal_session.id);
    expect(row!.text).not.toContain(code);
    expect(row!.text).not.toContain(ACTOR.name);
  });

  it.each([
    [{ scopes: ['keys:read', 'money:write'] }, 'scopes'],
    [{ scopes: [] }, 'scopes'],
    [{ return_url: 'http://backoffice.example/' }, 'return_url'],
    [{ return_url: 'javascript:alert(1)' }, 'return_url'],
    [{ actor: { id: '', name: 'Ada' } }, 'id'],
  ])('refuses %j', async (body, field) => {
    const response = await app.merchant.post(SESSIONS, body);
    expect([response.status, Object.keys(response.json().errors)]).toEqual([422, [field]]);
  });
});

/** Creates a link to the portal, and a browser that has not opened it. */
const fresh = async () => {
  const { url } = await createPortalSession(app.merchant);
  return { url, browser: new PortalBrowser(new URL(url).origin) };
};

describe('a link to the portal', () => {
  it('opens once, with the person, the scopes and the return URL of the link', async () => {
    const { portal_session, url } = await createPortalSession(app.merchant, {
      actor: ACTOR,
      scopes: ['usage:read'],
      return_url: 'http://localhost:8080/',
    });
    const browser = await PortalBrowser.enter(url);
    const me = await browser.get('/api/v1/me');
    expect(me.status).toBe(200);
    expect(me.headers['cache-control']).toBe('no-store');
    expect(me.json()).toEqual({
      merchant: { id: app.merchant.credentials.apiKey, name: 'Test merchant', status: 'active' },
      actor: ACTOR,
      scopes: ['usage:read'],
      session_expires_at: expect.any(String),
      return_url: 'http://localhost:8080/',
    });
    expect(await listed()).toContainEqual(
      expect.objectContaining({ id: portal_session.id, status: 'active', last_seen_at: expect.any(String) }),
    );
    expect((await new PortalBrowser(browser.origin).openLink(url)).status).toBe(401);
  });

  it('opens for only one of three concurrent browsers', async () => {
    const { url } = await createPortalSession(app.merchant);
    const { origin } = new URL(url);
    const responses = await Promise.all([1, 2, 3].map(() => new PortalBrowser(origin).openLink(url)));
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 401, 401]);
  });

  it('does not open from another site, and sets a cookie with HttpOnly and SameSite=Strict', async () => {
    const { url, browser } = await fresh();
    expect((await browser.openLink(url, { origin: 'https://evil.example' })).status).toBe(403);
    const { status, headers } = await browser.openLink(url);
    expect(status).toBe(204);
    expect(String(headers['set-cookie'])).toMatch(/^portal=[^;]{64}; .*Path=\/; HttpOnly; SameSite=Strict/);
  });
});

describe('a session of the portal', () => {
  const status = async (browser: PortalBrowser): Promise<number> => (await browser.get('/api/v1/me')).status;

  it('ends when it is revoked', async () => {
    const { portal_session, url } = await createPortalSession(app.merchant);
    const browser = await PortalBrowser.enter(url);
    const path = `${SESSIONS}/${portal_session.id}`;
    const foreign = await app.secondMerchant.call({ method: 'DELETE', path });
    expect([foreign.status, await status(browser)]).toEqual([404, 200]);
    const [revoked, repeated] = [
      await app.merchant.call({ method: 'DELETE', path }),
      await app.merchant.call({ method: 'DELETE', path }),
    ];
    expect([revoked.status, repeated.status, await status(browser)]).toEqual([204, 204, 401]);
    expect(await listed()).toContainEqual(
      expect.objectContaining({ id: portal_session.id, status: 'revoked' }),
    );
  });

  it('ends when another session replaces it in the same browser', async () => {
    const first = await createPortalSession(app.merchant);
    const browser = await PortalBrowser.enter(first.url);
    const second = await createPortalSession(app.merchant);
    expect((await browser.openLink(second.url)).status).toBe(204);
    expect(await status(browser)).toBe(200);
    expect(await listed()).toContainEqual(
      expect.objectContaining({ id: first.portal_session.id, status: 'revoked' }),
    );
  });

  it('ends with a logout from its own page, but not from another site', async () => {
    const { url } = await createPortalSession(app.merchant);
    const browser = await PortalBrowser.enter(url);
    const foreign = await browser.post('/logout', undefined, { origin: 'https://evil.example' });
    expect([foreign.status, await status(browser)]).toEqual([403, 200]);
    expect((await browser.post('/logout')).status).toBe(204);
    expect(await status(browser)).toBe(401);
  });

  it('ends after an hour with only background requests, and a request of the person extends it', async () => {
    const background = { 'disburse-background': 'true' };
    const [one, other] = await Promise.all([1, 2].map(() => createPortalSession(app.merchant)));
    const [left, used] = await Promise.all([one!, other!].map(({ url }) => PortalBrowser.enter(url)));
    const pass = (): Promise<unknown> =>
      app.database.query(
        `update access.portal_session_uses set last_seen_at = last_seen_at - interval '40 minutes'
         where session_id = any($1)`,
        [[one!, other!].map(({ portal_session }) => portal_session.id)],
      );
    await pass();
    expect((await left!.get('/api/v1/me', background)).status).toBe(200);
    expect(await status(used!)).toBe(200);
    await pass();
    expect((await left!.get('/api/v1/me', background)).status).toBe(401);
    expect([await status(left!), await status(used!)]).toEqual([401, 200]);
  });

  it('is required by the API of the portal, which only the listener of the portal serves', async () => {
    const { browser } = await fresh();
    expect((await browser.get('/api/v1/me')).status).toBe(401);
    expect((await app.merchant.get('/api/v1/me')).status).toBe(404);
    expect((await browser.get(SESSIONS)).status).toBe(404);
  });
});

describe('the document of the portal', () => {
  it.each(['/', '/enter', '/deliveries'])(
    'is served at %s under a policy that allows only its own files',
    async (path) => {
      const { browser } = await fresh();
      const page = await browser.get(path, { accept: 'text/html' });
      expect(page.status).toBe(200);
      expect(page.headers['content-security-policy']).toMatch(
        /^default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self'; .*require-trusted-types-for 'script'.*frame-ancestors 'none'/,
      );
      expect(page.text).toContain('&quot;page&quot;:&quot;portal&quot;');
      expect((await browser.get('/api/v1/unknown', { accept: 'text/html' })).status).toBe(404);
    },
  );
});

/** Listeners on one host share cookies on every port, so that each has to refuse the others' cookies. */
describe('a cookie', () => {
  it('of the console or portal is accepted only by its own listener and under its own name', async () => {
    const site = new ConsoleSite(app);
    const { browser: person } = await site.signedIn('administrator');
    const portal = await PortalBrowser.enter((await createPortalSession(app.merchant)).url);
    const tokens = { console: person.cookie('console')!, portal: portal.token };
    const reads = {
      console: ['/session', '/admin/v1/whoami'].map((path) => site.origin + path),
      portal: ['/api/v1/me', '/api/v1/keys'].map((path) => portal.origin + path),
      other: [
        ...['/merchants/v1/payouts', '/v1/orders?status=pending'].map((path) => app.url + path),
        `${pageUrl(app.app)}/onboarding/api/session`,
        `${pageUrl(app.app, PAY_PAGE)}/widget/api/config`,
      ],
    };
    for (const [own, token] of Object.entries(tokens))
      for (const [listener, urls] of Object.entries(reads))
        for (const url of urls)
          for (const name of ['console', 'portal', '__Host-console', '__Host-portal', 'session']) {
            if (listener === own && name === own) continue;
            const { status } = await send(url, { headers: { cookie: `${name}=${token}` } });
            expect([url, name, [400, 401, 403, 404].includes(status)]).toEqual([url, name, true]);
          }
    const headers = { authorization: `Bearer ${tokens.console}` };
    expect((await send(`${site.origin}/admin/v1/whoami`, { headers })).status).toBe(401);
  });
});

describe('a link to the portal of another merchant', () => {
  // A separate service, because the sessions of all merchants become idle.
  const site = new ConsoleSite(onTestApp());

  const merchantIn = async (browser: PortalBrowser): Promise<string> =>
    (await browser.get('/api/v1/me')).json().merchant.id;
  const post = (browser: PortalBrowser, url: string, replace?: boolean) =>
    browser.post('/session', { code: new URL(url).hash.slice(1), replace });

  it('replaces the session of the browser only if the person confirms', async () => {
    const { merchant, secondMerchant } = site.app;
    const browser = await PortalBrowser.enter((await createPortalSession(merchant)).url);
    const { url } = await createPortalSession(secondMerchant);
    for (const replace of [undefined, false]) {
      const refused = await post(browser, url, replace);
      expect([refused.status, refused.headers['set-cookie']]).toEqual([409, undefined]);
      expect(await merchantIn(browser)).toBe(merchant.credentials.apiKey);
    }
    const former = new PortalBrowser(browser.origin);
    former.setCookie('portal', browser.token);
    // The code is still valid.
    expect((await post(browser, url, true)).status).toBe(204);
    expect((await former.get('/api/v1/me')).status).toBe(401);
    expect(await merchantIn(browser)).toBe(secondMerchant.credentials.apiKey);
    expect((await post(browser, url, true)).status).toBe(401);
  });

  it('needs no confirmation if the open session is idle; a link of the same merchant never needs confirmation', async () => {
    const { merchant, secondMerchant, database } = site.app;
    const first = await createPortalSession(merchant);
    const browser = await PortalBrowser.enter(first.url);
    expect((await browser.openLink((await createPortalSession(merchant)).url)).status).toBe(204);
    expect(await merchantIn(browser)).toBe(merchant.credentials.apiKey);
    await database.query(
      `update access.portal_session_uses set last_seen_at = now() - interval '61 minutes'`,
    );
    expect((await browser.openLink((await createPortalSession(secondMerchant)).url)).status).toBe(204);
    expect(await merchantIn(browser)).toBe(secondMerchant.credentials.apiKey);
  });

  it('is not consumed by a HEAD request, which gets 200 without a body', async () => {
    const { url } = await createPortalSession(site.app.merchant);
    const { origin } = new URL(url);
    for (const address of [`${origin}/enter`, `${site.origin}/login`, `${site.origin}/enrol`]) {
      const response = await send(address, { method: 'HEAD' });
      expect([address, response.status, response.text]).toEqual([address, 200, '']);
      expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    }
    for (const address of [`${origin}/api/v1/unknown`, `${site.origin}/admin/v1/unknown`])
      expect((await send(address, { method: 'HEAD' })).status).toBe(404);
    expect((await new PortalBrowser(origin).openLink(url)).status).toBe(204);
  });
});

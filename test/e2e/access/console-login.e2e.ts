import { CommandBus } from '@nestjs/cqrs';
import { describe, expect, it } from '@jest/globals';
import { UpdateOperator } from '../../../src/contexts/access/operators/operators.commands.js';
import { newId } from '../../../src/kernel/ids.js';
import { ConsoleSite } from '../../support/access/console-site.js';
import type { CookieClient } from '../../support/access/cookie-client.js';
import { onTestApp, sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';

const site = new ConsoleSite(await sharedApp());

describe('a session of the console', () => {
  const age = (id: string, minutes: number): Promise<unknown> =>
    site.app.database.query(
      `update access.console_sessions set last_seen_at = last_seen_at - make_interval(mins => $1)
       where operator_id = $2`,
      [minutes, id],
    );

  it('is opened once by a one-time link and names its operator', async () => {
    const { id } = await site.operator();
    const link = await site.link(id);
    expect(link).toMatch(/^http:\/\/localhost:[0-9]+\/enrol#[A-Za-z0-9_-]{43}$/);
    const token = link.split('#')[1]!;
    const browser = site.browser();
    const login = await browser.post('/login/link', { token });
    expect(login.status).toBe(204);
    expect([login.headers['set-cookie']].flat()).toEqual([
      expect.stringMatching(/^console=[A-Za-z0-9_-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    const session = (await browser.call('/session')).json();
    expect(session).toMatchObject({ operator: { id, role: 'support' }, method: 'link', read_only: false });
    expect(session.scopes).toContain('users_personal:read');
    expect(session.decisions).toEqual(['users.erase']);
    expect((await site.browser().post('/login/link', { token })).status).toBe(401);
  });

  it('cannot be opened by an expired link or by a link that a later link replaced', async () => {
    const { id } = await site.operator();
    const first = await site.token(id);
    const token = await site.token(id);
    expect((await site.browser().post('/login/link', { token: first })).status).toBe(401);
    const expire = `update access.login_secrets set expires_at = now() where operator_id = $1 and expires_at > now()`;
    await site.app.database.query(expire, [id]);
    expect((await site.browser().post('/login/link', { token })).status).toBe(401);
  });

  it('is accepted by the admin API with the role of its operator', async () => {
    const { browser, id } = await site.signedIn('viewer');
    const whoami = await browser.call('/admin/v1/whoami');
    expect(whoami.status).toBe(200);
    expect(whoami.json()).toMatchObject({
      actor: { operator_id: id, credential_id: null },
      role: 'viewer',
    });
    expect((await browser.call('/session')).json().decisions).toEqual([]);
    expect((await browser.call('/admin/v1/audit/head')).status).toBe(403);
    expect((await browser.call('/admin/v1/system')).status).toBe(200);
    expect((await site.browser().call('/admin/v1/whoami')).status).toBe(401);
  });

  it('ends with a logout, even for a copy of its cookie', async () => {
    const { browser } = await site.signedIn();
    const copy = site.browser();
    copy.setCookie('console', browser.cookie('console')!);
    expect((await copy.call('/session')).status).toBe(200);
    expect((await browser.post('/logout')).status).toBe(204);
    expect(browser.cookie('console')).toBeUndefined();
    expect((await copy.call('/session')).status).toBe(401);
    expect((await browser.post('/logout')).status).toBe(204);
  });

  it('ends after 15 idle minutes and lasts during activity', async () => {
    const { browser: idle, id } = await site.signedIn();
    const { browser: busy, id: worker } = await site.signedIn();
    for (const minutes of [14, 14]) {
      await Promise.all([age(id, minutes), age(worker, minutes)]);
      expect((await busy.call('/session')).status).toBe(200);
    }
    expect((await idle.call('/session')).status).toBe(401);
  });

  it('is extended by a read of the operator but not by background reads', async () => {
    const persons = await Promise.all([1, 2, 3].map(() => site.signedIn('administrator')));
    const [left, used, writes] = persons.map(({ browser }) => browser) as CookieClient[];
    const pass = (minutes: number) => Promise.all(persons.map(({ id }) => age(id, minutes)));
    const background = { headers: { 'disburse-background': 'true' } };
    const paths = ['/session', '/admin/v1/whoami', '/admin/v1/operations'];
    const inBackground = (browser: CookieClient) =>
      Promise.all(paths.map(async (path) => (await browser.call(path, background)).status));
    await pass(10);
    for (const { browser } of persons) expect(await inBackground(browser)).toEqual([200, 200, 200]);
    expect((await used!.call('/session', { headers: { 'disburse-background': 'false' } })).status).toBe(200);
    // The write fails on its body, but still counts as the person's activity.
    const path = '/admin/v1/credentials/revoke_leaked';
    expect((await writes!.post(path, {}, background.headers)).status).toBe(422);
    await pass(10);
    expect(await inBackground(left!)).toEqual([401, 401, 401]);
    expect((await left!.call('/session')).status).toBe(401);
    expect(await inBackground(used!)).toEqual([200, 200, 200]);
    expect(await inBackground(writes!)).toEqual([200, 200, 200]);
  });

  it('ends for good when the operator is disabled, and when a new login link is issued', async () => {
    const { browser, id } = await site.signedIn();
    expect((await browser.call('/session')).status).toBe(200);
    const become = (status: 'active' | 'disabled') =>
      site.app.app.get(CommandBus).execute(new UpdateOperator(id, { status }));
    await become('disabled');
    await eventually(async () => (await browser.call('/admin/v1/whoami')).status === 401);
    await become('active');
    expect((await browser.call('/session')).status).toBe(401);
    const next = site.browser();
    expect((await next.post('/login/link', { token: await site.token(id) })).status).toBe(204);
    expect((await next.call('/session')).status).toBe(200);
    const token = await site.token(id);
    expect((await next.call('/session')).status).toBe(401);
    await become('disabled');
    expect((await next.post('/login/link', { token })).status).toBe(401);
  });

  it('refuses a write from another site', async () => {
    const headers = { origin: 'https://evil.example' };
    const { browser } = await site.signedIn('administrator');
    const { id } = await site.operator();
    const [path, body] = [`/admin/v1/users/${newId()}/deactivate`, { reason: 'It is right' }];
    expect((await browser.post(path, body)).status).toBe(428);
    expect((await browser.post(path, body, headers)).status).toBe(403);
    expect((await browser.post('/logout', {}, headers)).status).toBe(403);
    expect((await browser.post('/login/link', { token: await site.token(id) }, headers)).status).toBe(403);
    expect((await browser.call('/session')).status).toBe(200);
  });
});

const PROBLEM = 'application/problem+json; charset=utf-8';

describe('the document of the console', () => {
  it.each(['/', '/login', '/payouts?status=pending', '/users/1'])('at %s cannot be framed', async (path) => {
    const browser = site.browser();
    const page = await browser.call(path, { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    const policy = page.headers['content-security-policy']!;
    for (const part of [
      ...["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"],
      ...["require-trusted-types-for 'script'", "trusted-types 'none'", "base-uri 'none'"],
      "form-action 'none'",
    ])
      expect(policy).toContain(part);
    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    expect(page.text).toContain('&quot;oidc&quot;:false');
  });

  it('is not served for an API path with a wrong method, which gets 405 even from a browser', async () => {
    const browser = site.browser();
    const headers = { accept: 'text/html' };
    for (const [method, path, allow] of [
      ['DELETE', '/admin/v1/operations', 'GET, HEAD'],
      ['POST', '/admin/v1/whoami', 'GET, HEAD'],
      ['GET', `/admin/v1/operations/${newId()}/approve`, 'POST'],
      ['PUT', `/admin/v1/merchants/${newId()}`, 'GET, HEAD, PATCH'],
    ]) {
      const response = await browser.call(path!, { method: method!, headers });
      expect([path, response.status, response.headers['allow']]).toEqual([path, 405, allow]);
      expect(response.headers['content-type']).toBe(PROBLEM);
    }
    // People open the page of a link, whose script posts to the same path.
    expect((await browser.call('/enrol', { headers })).status).toBe(200);
    expect((await browser.call('/enrol')).status).toBe(405);
  });

  it('is replaced by a problem document for clients that are no browser, and under API paths', async () => {
    const response = await site.browser().call('/payouts');
    expect([response.status, response.headers['content-type']]).toEqual([404, PROBLEM]);
    for (const [path, status] of [
      ['/admin/v1/nothing', 404],
      ['/admin/v1/whoami', 401],
      ['/admin/v1?a=b', 404],
    ] as const) {
      const unknown = await site.browser().call(path, { headers: { accept: 'text/html' } });
      expect([path, unknown.status, unknown.headers['content-type']]).toEqual([path, status, PROBLEM]);
    }
  });
});

describe('a read-only console', () => {
  // A separate service, because of its setting.
  const site = new ConsoleSite(onTestApp({ CONSOLE_READ_ONLY: 'true' }));

  it('refuses every write of a session', async () => {
    const { browser } = await site.signedIn('administrator');
    expect((await browser.call('/session')).json()).toMatchObject({ read_only: true });
    const path = `/admin/v1/users/${newId()}/deactivate`;
    const write = await browser.post(path, { reason: 'It is right' });
    expect([write.status, write.json().detail]).toEqual([403, 'The console is read-only']);
    expect((await browser.call('/admin/v1/whoami')).status).toBe(200);
    const admin = await site.app.newAdmin();
    expect((await admin.get('/whoami')).status).toBe(200);
  });
});

const HALF_A_DAY_SECONDS = 43_200;

describe('the longest session of the console', () => {
  it('ends twelve hours after the login, even during activity', async () => {
    const { browser, id } = await site.signedIn();
    const session = (await browser.call('/session')).json();
    const lasts = Date.parse(session.expires_at) - Date.parse(session.authenticated_at);
    expect(lasts / 1000).toBe(HALF_A_DAY_SECONDS);
    const expire = (minutes: number): Promise<unknown> =>
      site.app.database.query(
        `update access.console_sessions
         set expires_at = now() + make_interval(mins => $1), last_seen_at = now() - interval '1 minute'
         where operator_id = $2`,
        [minutes, id],
      );
    await expire(5);
    const { expires_at } = (await browser.call('/session')).json();
    expect((await browser.call('/admin/v1/whoami')).status).toBe(200);
    expect((await browser.call('/session')).json()).toMatchObject({ expires_at });
    await expire(-1);
    expect((await browser.call('/session')).status).toBe(401);
    expect((await browser.call('/admin/v1/whoami')).status).toBe(401);
  });
});

import { afterAll, describe, expect, it } from '@jest/globals';
import { OperatorsView } from '../../../src/contexts/access/merchants/directory.view.js';
import type { OperationJson } from '../../../src/platform/operations/operations.js';
import { Sealer } from '../../../src/platform/sealing/sealer.js';
import { freePort } from '../../../sandbox/processes.js';
import { ConsoleSite } from '../../support/access/console-site.js';
import { OidcIssuer } from '../../support/access/oidc-issuer.js';
import { startTestApp } from '../../support/app.js';

const port = await freePort();
const origin = `http://localhost:${port}`;
const issuer = await OidcIssuer.start(`${origin}/login/oidc/callback`);
const app = await startTestApp({
  ADMIN_PORT: String(port),
  ADMIN_URL: origin,
  ADMIN_OIDC_ISSUER: issuer.url,
  ADMIN_OIDC_CLIENT_ID: issuer.clientId,
  ADMIN_OIDC_CLIENT_SECRET: issuer.clientSecret,
  ADMIN_OIDC_CLAIM: 'hd=example.com',
  ADMIN_OIDC_ROLES: 'admins=administrator,helpers=viewer,staff=support',
});
const site = new ConsoleSite(app);

describe('a login at the identity provider', () => {
  afterAll(async () => {
    await site.app.close();
    await issuer.stop();
  });

  const claimsOf = (email: string, more: object = {}) => ({
    email,
    email_verified: true,
    hd: 'example.com',
    groups: ['staff'],
    ...more,
  });

  /** Follows the login. Returns the browser and the addresses that it has seen. */
  const login = async (
    claims: ReturnType<typeof claimsOf>,
    at: number | null = null,
    browser = site.browser(),
    path = '/login/oidc',
  ) => {
    issuer.signInAs(claims, at);
    const seen: string[] = [];
    const { status } = await browser.follow(path, seen);
    return { browser, seen, status };
  };

  it('signs in the operator with the verified email', async () => {
    const { id, email } = await site.operator();
    const { browser, seen } = await login(claimsOf(email));
    expect(seen.at(-1)).toBe(`${site.origin}/`);
    expect(new URL(seen[0]!).searchParams.get('code_challenge_method')).toBe('S256');
    expect((await browser.call('/session')).json()).toMatchObject({
      operator: { id },
      method: 'oidc',
    });
    expect(browser.cookie('console-oidc')).toBeUndefined();
  });

  it('returns to the page of the console that the operator came from', async () => {
    const { email } = await site.operator();
    const path = '/login/oidc?return_to=%2Fpayouts%3Fstatus%3Dpending';
    const { seen } = await login(claimsOf(email), null, site.browser(), path);
    expect(seen.at(-1)).toBe(`${site.origin}/payouts?status=pending`);
  });

  it('lowers the role of the operator to the role of their group at the provider', async () => {
    const roleOf = async (id: string) =>
      (await site.app.app.get(OperatorsView, { strict: false }).get(id))?.role;
    const { id, email } = await site.operator('support');
    const { browser } = await login(claimsOf(email, { groups: ['helpers'] }));
    expect(await roleOf(id)).toBe('viewer');
    expect((await browser.call('/session')).json().scopes).not.toContain('users_personal:read');
    const { operations } = (await browser.call(`/admin/v1/operations?subject_id=${id}`)).json<{
      operations: readonly OperationJson[];
    }>();
    expect(operations).toMatchObject([
      {
        name: 'operators.lower_role',
        status: 'executed',
        parameters: { role: 'viewer' },
        reason: 'the groups at the identity provider',
        requested_by: { operator_id: id, address: expect.any(String) },
      },
    ]);
  });

  it('is refused if its callback is opened in another browser or for a second time', async () => {
    const { email } = await site.operator();
    const { browser, seen } = await login(claimsOf(email));
    const callback = seen.find((each) => each.includes('/login/oidc/callback'))!;
    expect((await site.browser().call(callback)).status).toBe(401);
    expect((await browser.call(callback)).status).toBe(401);
  });

  it('is refused once its attempt has expired, even if the browser still sends the cookie', async () => {
    const attempt = { state: 's', nonce: 'n', verifier: 'v', returnTo: '/', former: null };
    const statusWith = async (until: number): Promise<number> => {
      const text = JSON.stringify({ ...attempt, until });
      const browser = site.browser();
      browser.setCookie(
        'console-oidc',
        app.app.get(Sealer, { strict: false }).seal(text, 'console oidc attempt'),
      );
      return (await browser.call('/login/oidc/callback')).status;
    };
    // The provider has confirmed neither, but the second attempt has not expired.
    expect([await statusWith(Date.now()), await statusWith(Date.now() + 60_000)]).toEqual([401, 403]);
  });

  it('sets authenticated_at to the time of the login at the provider, also after a second login', async () => {
    const { email } = await site.operator();
    const at = Math.floor(Date.now() / 1000) - 200;
    const { browser, seen } = await login(claimsOf(email), at);
    expect(new URL(seen[0]!).searchParams.get('max_age')).toBe('300');
    expect(new URL(seen[0]!).searchParams.get('prompt')).toBeNull();
    const authenticated = async () => Date.parse((await browser.call('/session')).json().authenticated_at);
    expect(await authenticated()).toBe(at * 1000);
    const again = await login(claimsOf(email), null, browser);
    expect(new URL(again.seen[0]!).searchParams.get('prompt')).toBe('login');
    expect(await authenticated()).toBeGreaterThan(at * 1000 + 150_000);
  });

  it('ends the session that the browser had before', async () => {
    const { email } = await site.operator();
    const { browser } = await login(claimsOf(email));
    const former = site.browser();
    former.setCookie('console', browser.cookie('console')!);
    expect((await former.call('/session')).status).toBe(200);
    const begun = await browser.call('/login/oidc');
    browser.setCookie('console', '');
    await browser.follow(begun.headers['location']!);
    expect((await browser.call('/session')).status).toBe(200);
    expect((await former.call('/session')).status).toBe(401);
  });

  it('refuses passkeys without a one-time link, because former employees would keep their passkeys', async () => {
    const { browser, id } = await site.signedIn();
    const enrolment = (body: object) => browser.post('/enrol/options', body);
    expect((await browser.post('/login/passkey/options')).status).toBe(403);
    expect((await enrolment({})).status).toBe(403);
    expect((await enrolment({ token: await site.token(id) })).status).toBe(200);
  });
});

import { describe, expect, it } from '@jest/globals';
import { ConsoleSite } from '../../support/access/console-site.js';
import { onTestApp } from '../../support/app.js';
import { createPortalSession, PortalBrowser } from '../../support/http/portal-browser.js';
import { send } from '../../support/http/signed-client.js';

describe('a link to the portal of another merchant', () => {
  // Its own service: the sessions of all merchants become idle.
  const site = new ConsoleSite(onTestApp());

  const merchantIn = async (browser: PortalBrowser): Promise<string> =>
    (await browser.get('/api/v1/me')).json().merchant.id;
  const post = (browser: PortalBrowser, url: string, replace?: boolean) =>
    browser.post('/session', { code: new URL(url).hash.slice(1), replace });

  it('replaces the session that lives in the browser only where the person says so', async () => {
    const { merchant, secondMerchant } = site.app;
    const browser = await PortalBrowser.enter((await createPortalSession(merchant)).url);
    const { url } = await createPortalSession(secondMerchant);
    for (const replace of [undefined, false]) {
      const refused = await post(browser, url, replace);
      expect([refused.status, refused.headers['set-cookie']]).toEqual([409, undefined]);
      expect(await merchantIn(browser)).toBe(merchant.credentials.apiKey);
    }
    // The code is as good as before.
    expect((await post(browser, url, true)).status).toBe(204);
    expect((await browser.get('/api/v1/me')).status).toBe(401);
    expect((await post(browser, url, true)).status).toBe(401);
  });

  it('begins without a question where the session was idle for too long, or is of the same merchant', async () => {
    const { merchant, secondMerchant, database } = site.app;
    const first = await createPortalSession(merchant);
    const browser = await PortalBrowser.enter(first.url);
    expect((await browser.follow((await createPortalSession(merchant)).url)).status).toBe(204);
    expect(await merchantIn(browser)).toBe(merchant.credentials.apiKey);
    await database.query(
      `update access.portal_session_uses set last_seen_at = now() - interval '61 minutes'`,
    );
    expect((await browser.follow((await createPortalSession(secondMerchant)).url)).status).toBe(204);
    expect(await merchantIn(browser)).toBe(secondMerchant.credentials.apiKey);
  });

  it('is inspected by a HEAD, which consumes nothing, as is the login to the console', async () => {
    const { url } = await createPortalSession(site.app.merchant);
    const { origin } = new URL(url);
    for (const address of [`${origin}/enter`, `${site.origin}/login`, `${site.origin}/enrol`]) {
      const response = await send(address, { method: 'HEAD' });
      expect([address, response.status, response.text]).toEqual([address, 200, '']);
      expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    }
    for (const address of [`${origin}/api/v1/unknown`, `${site.origin}/admin/v1/unknown`])
      expect((await send(address, { method: 'HEAD' })).status).toBe(404);
    expect((await new PortalBrowser(origin).follow(url)).status).toBe(204);
  });
});

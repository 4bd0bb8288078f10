import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { PAY_PAGE } from '../../../src/contexts/exchange/http/pay/pay-page.controller.js';
import { pageUrl } from '../../support/onboarding/people.js';
import { HOME, signIn } from '../../support/pages/console-page.js';
import type { PortalWorld } from '../../support/pages/portal-world.js';

/** Listeners on one host share its cookies, on any port: each has to refuse those of the others. */
export function describeBoundaries(world: PortalWorld): void {
  describe('another page of the same machine', () => {
    let site: Server;
    let evil: string;
    /** What the browser sends to any port of its host. */
    let sentCookies = '';
    let page: Page;
    let problems: string[];

    beforeAll(async () => {
      site = createServer(({ headers }, response) => {
        if (headers.accept?.includes('text/html')) sentCookies = headers.cookie ?? '';
        response.setHeader('content-type', 'text/html').end('<!doctype html><title>evil</title>');
      });
      await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
      evil = `http://localhost:${(site.address() as AddressInfo).port}`;
    });
    afterAll(() => void site.close());

    /** A browser with a session of the console and one of the portal, at a page of somebody else. */
    async function visit(): Promise<void> {
      const { service, browser } = world;
      const user = await signIn(browser, service, await service.newOperator('Ada Operator'));
      ({ page, problems } = user);
      await page.goto(await world.linkFor());
      await page.getByRole('heading', { name: HOME }).waitFor();
      await page.goto(evil);
    }
    const cookies = async (): Promise<Record<string, string>> =>
      Object.fromEntries((await page.context().cookies()).map(({ name, value }) => [name, value]));
    const status = async (url: string, cookie: string): Promise<number> =>
      (await fetch(url, { headers: { cookie, accept: 'application/json' } })).status;

    it('a cookie of the console opens nothing but the console, one of the portal nothing but the portal', async () => {
      await visit();
      const { app, consoleUrl, portalUrl } = world.service;
      const held = await cookies();
      expect(Object.keys(held).sort()).toEqual(['console', 'portal']);
      const { console: ofConsole, portal: ofPortal } = held;
      const reads = [
        ...[`${consoleUrl}/session`, `${consoleUrl}/admin/v1/whoami`, `${consoleUrl}/live`],
        ...[`${portalUrl}/api/v1/me`, `${portalUrl}/api/v1/keys`],
        ...[`${app.url}/merchants/v1/payouts`, `${app.url}/v1/orders?status=pending`],
        ...[`${pageUrl(app.app)}/onboarding/api/session`, `${pageUrl(app.app, PAY_PAGE)}/widget/api/config`],
      ];
      // Under each name that a listener may know, as bearer token too.
      for (const [token, own] of [
        [ofConsole!, 'console'],
        [ofPortal!, 'portal'],
      ] as const)
        for (const url of reads)
          for (const name of ['console', 'portal', '__Host-console', '__Host-portal', 'session']) {
            const listener = url.startsWith(consoleUrl)
              ? 'console'
              : url.startsWith(portalUrl)
                ? 'portal'
                : '';
            if (listener === own && name === own) continue;
            const code = await status(url, `${name}=${token}`);
            expect([url, name, code, [400, 401, 403, 404].includes(code)]).toEqual([url, name, code, true]);
          }
      const bearer = { headers: { authorization: `Bearer ${ofConsole!}` } };
      expect((await fetch(`${consoleUrl}/admin/v1/whoami`, bearer)).status).toBe(401);
      problems.length = 0;
    });

    it('sends the cookies along, and each write is refused for its origin', async () => {
      await visit();
      const { consoleUrl, portalUrl } = world.service;
      const { id } = world.morning.endpoint;
      const writes = [
        `${consoleUrl}/logout`,
        `${consoleUrl}/admin/v1/operators`,
        `${portalUrl}/logout`,
        `${portalUrl}/api/v1/endpoints/${id}/rotate_secret`,
        `${portalUrl}/api/v1/keys`,
      ];
      const statuses: number[] = [];
      page.on('response', (response) => {
        if (response.request().method() === 'POST') statuses.push(response.status());
      });
      // What needs no permission of the other origin, like a form.
      for (const url of writes)
        await page.evaluate(
          `fetch(${JSON.stringify(url)}, { method: 'POST', mode: 'no-cors', credentials: 'include' })
            .catch(() => undefined)`,
        );
      expect(sentCookies).toMatch(/console=.*portal=|portal=.*console=/);
      expect(statuses).toEqual(writes.map(() => 403));
      // Neither may be read from here.
      for (const url of [`${consoleUrl}/session`, `${portalUrl}/api/v1/me`])
        expect(
          await page.evaluate(
            `fetch(${JSON.stringify(url)}, { credentials: 'include' }).then(() => 'read', () => 'refused')`,
          ),
        ).toBe('refused');
      await page.goto(consoleUrl);
      await page.getByRole('button', { name: 'Account of Ada Operator' }).waitFor();
      await page.goto(portalUrl);
      await page.getByRole('button', { name: 'Account of Ada of the shop' }).waitFor();
      problems.length = 0;
    });
  });
}

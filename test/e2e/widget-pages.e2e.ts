import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Frame, Page } from 'playwright-core';
import { startTestApp, type TestApp } from '../support/app.js';
import { findChromium, picture, TestBrowser, type WatchedPage } from '../support/browser.js';
import { createUser, onboardingUrl, signUp, widgetUrl } from '../support/widget-visitor.js';

const SHOP = 'https://shop.example';
const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;

suite('pages of the service in a browser', () => {
  let app: TestApp;
  let browser: TestBrowser;

  beforeAll(async () => {
    [app, browser] = await Promise.all([startTestApp(), TestBrowser.start(chromium!)]);
  });
  afterAll(async () => {
    await Promise.all([app?.close(), browser?.close()]);
  });

  /** Runs `look` on a new page, on which nothing may go wrong. */
  const on = async (
    origins: string[],
    look: (page: Page, visit: WatchedPage) => Promise<void>,
  ): Promise<void> => {
    const visit = await browser.visit(origins);
    await look(visit.page, visit);
    await visit.page.context().close();
    expect(visit.problems).toEqual([]);
  };

  describe('the onboarding widget', () => {
    it('404: a page that says so, for an unknown merchant or user', async () => {
      const user = await createUser(app.merchant);
      const merchantId = app.merchant.credentials.apiKey;
      await on([widgetUrl(app)], async (page, visit) => {
        for (const query of [
          { merchant_id: randomUUID(), user_id: user.id },
          { merchant_id: app.secondMerchant.credentials.apiKey, user_id: user.id },
          { merchant_id: merchantId, user_id: randomUUID() },
          { merchant_id: merchantId, user_id: '\'"><script>alert(1)</script>' },
        ]) {
          const response = await page.goto(
            `${widgetUrl(app)}/onboarding?${new URLSearchParams(query).toString()}`,
          );
          expect(response?.status()).toBe(404);
          await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
        }
        await picture(page, 'refusal-404');
        // The browser's own line about the status of the page.
        visit.problems.length = 0;
      });
    });

    it('404 for programs: problem details', async () => {
      const response = await fetch(`${widgetUrl(app)}/onboarding?merchant_id=x&user_id=y`);
      expect(response.headers.get('content-type')).toContain('application/problem+json');
      expect(await response.json()).toMatchObject({ status: 404, detail: 'User not found' });
    });

    it('422: a date of birth that is no day of the past', async () => {
      const user = await createUser(app.merchant);
      await fetch(onboardingUrl(app, user));
      const steps = `${widgetUrl(app)}/onboarding/${app.merchant.credentials.apiKey}/${user.id}`;
      const step = async (name: string, body: object, session = ''): Promise<Record<string, unknown>> => {
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${session}` };
        const response = await fetch(`${steps}/${name}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
        });
        return (await response.json()) as Record<string, unknown>;
      };
      await step('code', { phone_number: user.phone });
      const { code } = await step('inbox', {});
      const { session } = await step('phone', { phone_number: user.phone, code });
      const errors: unknown[] = [];
      for (const date_of_birth of ['1985-02-30', '1985-13-01', '2099-01-01', '12/10/1985', '1985-12-10']) {
        const consent = { terms_version: 'sandbox', privacy_version: 'sandbox' };
        const details = { first_name: 'Ada', last_name: 'Lovelace', date_of_birth, ...consent };
        errors.push((await step('details', details, session as string))['errors']);
      }
      const refused = { date_of_birth: ['must be a day in the past'] };
      expect(errors).toEqual([refused, refused, refused, refused, undefined]);
    });

    it.each([
      'javascript:alert(1)',
      'JaVa\nScript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
    ])('refuses the callback_url %j', async (callback_url) => {
      const user = await createUser(app.merchant);
      await on([widgetUrl(app)], async (page, visit) => {
        const response = await page.goto(onboardingUrl(app, user, { callback_url }));
        expect(response?.status()).toBe(400);
        await page.getByText('callback_url must be an https address').waitFor();
        visit.problems.length = 0;
      });
    });

    it('leads to the callback_url at the end', async () => {
      const user = await createUser(app.merchant);
      await on([widgetUrl(app), SHOP], async (page) => {
        await page.route(`${SHOP}/**`, (route) =>
          route.fulfill({ contentType: 'text/html', body: 'welcome back' }),
        );
        await page.goto(onboardingUrl(app, user, { callback_url: `${SHOP}/done?order=1&x="'<` }));
        await signUp(page);
        await page.waitForURL(`${SHOP}/done?**`);
        expect(page.url()).toBe(`${SHOP}/done?order=1&x=%22%27%3C`);
      });
    });

    it('offers a link to an app where the browser does not follow by itself', async () => {
      const user = await createUser(app.merchant);
      await on([widgetUrl(app)], async (page) => {
        await page.goto(onboardingUrl(app, user, { callback_url: 'shopapp://done' }));
        await signUp(page);
        expect(await page.getByRole('link', { name: 'Continue' }).getAttribute('href')).toBe(
          'shopapp://done',
        );
        await picture(page, '10-back-to-app');
      });
    });

    it('stays where it is inside an iframe', async () => {
      const user = await createUser(app.merchant);
      const address = onboardingUrl(app, user, { callback_url: `${SHOP}/done` }).replaceAll('&', '&amp;');
      const shop =
        await serve(`<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
        <iframe src="${address}" allow="camera; microphone" width="480" height="640"></iframe></html>`);
      try {
        await on([widgetUrl(app), shop.origin], async (page) => {
          await page.goto(shop.origin);
          const frame = await frameOf(page, widgetUrl(app));
          await signUp(frame);
          await picture(page, 'embedded');
          // Longer than a standalone page takes to leave.
          await page.waitForTimeout(2000);
          expect([page.url(), frame.url()]).toEqual([
            `${shop.origin}/`,
            onboardingUrl(app, user, { callback_url: `${SHOP}/done` }),
          ]);
          expect(await frame.getByRole('link').count()).toBe(0);
        });
      } finally {
        shop.server.close();
      }
    });

    it('runs nothing that is not its own', async () => {
      const user = await createUser(app.merchant);
      const visit = await browser.visit([widgetUrl(app)]);
      const response = await visit.page.goto(onboardingUrl(app, user));
      const policy = response?.headers()['content-security-policy'] ?? '';
      expect(policy).toMatch(
        /^default-src 'none'; connect-src 'self'; script-src 'nonce-[^']+'; style-src 'nonce-[^']+';/,
      );
      await visit.page.evaluate(`{
        const script = document.createElement('script');
        script.textContent = 'window.ran = true';
        document.body.append(script);
      }`);
      expect(await visit.page.evaluate('window.ran === undefined')).toBe(true);
      expect(visit.problems).toEqual([expect.stringContaining('Content Security Policy')]);
      await visit.page.context().close();
    });
  });

  it('/docs lists the operations and the webhooks', async () => {
    const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId?: string }>>;
      webhooks: object;
    };
    const operations = Object.values(document.paths)
      .flatMap((path) => Object.values(path))
      .filter(({ operationId }) => operationId !== undefined);
    await on([app.url], async (page) => {
      await page.goto(`${app.url}/docs`);
      await page.locator('.opblock').first().waitFor();
      expect(await page.locator('.opblock').count()).toBe(
        operations.length + Object.keys(document.webhooks).length,
      );
      await picture(page, 'docs');
      await page.getByText('/merchants/v1/payouts/report', { exact: false }).first().click();
      await page.getByText('Responses', { exact: true }).first().waitFor();
      await picture(page, 'docs-operation');
    });
  });
});

async function frameOf(page: Page, origin: string): Promise<Frame> {
  await page.frameLocator('iframe').getByRole('heading').first().waitFor();
  return page.frames().find((frame) => frame.url().startsWith(origin))!;
}

async function serve(html: string): Promise<{ origin: string; server: Server }> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, origin: `http://localhost:${(server.address() as AddressInfo).port}` };
}

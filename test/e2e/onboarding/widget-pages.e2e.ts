import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { startTestApp, type TestApp } from '../../support/app.js';
import { findChromium, picture, TestBrowser, type WatchedPage } from '../../support/http/browser.js';
import { createUser, onboardingUrl, widgetUrl } from '../../support/onboarding/widget-visitor.js';

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

  /** Runs `check` on a new page, which may log no problems. */
  const on = async (
    origins: string[],
    check: (page: Page, visit: WatchedPage) => Promise<void>,
  ): Promise<void> => {
    const visit = await browser.visit(origins);
    await check(visit.page, visit);
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

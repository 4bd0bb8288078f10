import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { onTestApp } from '../../support/app.js';
import { canBrowse, onTestBrowser } from '../../support/http/browser.js';
import { PageUser, STILL } from '../../support/pages/page-user.js';

const QUESTIONS = JSON.parse(
  readFileSync(new URL('./search-questions.json', import.meta.url), 'utf8'),
) as readonly { readonly question: string; readonly page: string }[];

/** Each type of page: guides with tables, code, pictures, operations with/without form, objects, webhooks. */
const PAGES = [
  ...['', 'quickstart', 'payouts', 'webhooks', 'portal', 'contract', 'adr/', 'nothing'],
  ...[
    'reference/',
    'reference/errors',
    'reference/payouts',
    'reference/reportPayout',
    'reference/listOrders',
  ],
  ...['reference/adminUpdateMerchant', 'reference/webhooks/payout-received'],
];

(canBrowse() ? describe : describe.skip)('a page of the documentation', () => {
  const app = onTestApp();
  const browser = onTestBrowser();

  /** Opens a page, whose errors and policy violations fail the test. */
  async function open(path: string): Promise<Page> {
    const { page } = await browser.visit([app.url], STILL);
    await page.goto(`${app.url}/docs/${path}`);
    await page.locator('h1').first().waitFor();
    // Nothing responds before the theme has run.
    await page.locator('.VPNavBarSearch button').waitFor();
    return page;
  }

  it.each(PAGES)(
    'axe-core finds no accessibility violation on the page /docs/%s',
    async (path) => {
      const watched = await browser.visit([app.url], STILL);
      const reader = new PageUser(watched, app.url);
      await reader.open(`/docs/${path}`);
      await watched.page.locator('h1').first().waitFor();
      const form = watched.page.locator('.try-it summary');
      if (/\/(reportPayout|listOrders)$/.test(path)) await form.click();
      await reader.check();
    },
    120_000,
  );

  it('the search of the documentation finds the pages for the questions of integrators', async () => {
    const page = await open('');
    const found: string[] = [];
    const missing: string[] = [];
    for (const { question, page: expected } of QUESTIONS) {
      await page.keyboard.press('Control+k');
      await page.locator('.VPLocalSearchBox input').fill(question);
      await page.locator('.VPLocalSearchBox .results .result').first().waitFor();
      // Results are replaced once typing has paused.
      await page.waitForTimeout(400);
      const links = await page
        .locator('.VPLocalSearchBox .result')
        .evaluateAll((all) => all.slice(0, 3).map((each) => (each as unknown as { href: string }).href));
      const isFound = links.some((link) => `${link}#`.startsWith(`${app.url}/docs/${expected}#`));
      (isFound ? found : missing).push(isFound ? question : `${question}: ${links.join(' ')}`);
      await page.keyboard.press('Escape');
    }
    expect(missing).toEqual([]);
    expect(found.length).toBeGreaterThanOrEqual(10);
  }, 120_000);

  it('a form of the API reference sends a signed call with the typed keys, which stay in the page', async () => {
    const { apiKey, privateKey } = app.merchant.credentials;
    const page = await open('reference/createUser');
    const sent: string[] = [];
    page.on('request', (request) => {
      sent.push(JSON.stringify([request.url(), request.headers(), request.postData()]));
    });
    const body = '{"phone_number": "+1 555 000 2222", "external_id": "Grüße 日本 😀"}';
    await page.locator('.try-it summary').click();
    await page.getByRole('textbox', { name: 'Body' }).fill(body);
    await page.getByLabel('Idempotency-Key').fill('018f4a6e-7c1b-4a2b-8b0e-1f2a3b4c5d6e');
    await trySending(page, 'Send POST', '401');
    await page.getByLabel('svc-api-key').fill(apiKey);
    await page.getByLabel('private key').fill(privateKey);
    await trySending(page, 'Send POST', '201');
    const response = page.locator('.try-it pre');
    expect(await response.textContent()).toContain('"external_id": "Grüße 日本 😀"');
    await page.getByRole('button', { name: 'Send POST' }).click();
    await response.getByText('idempotent-replayed: true').waitFor();

    // The next operation uses the same keys.
    await page.getByRole('link', { name: 'Get a user', exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Get a user' }).waitFor();
    await page.locator('.try-it summary').click();
    await page.getByLabel('id path, required').fill('90c24bb3-327c-857c-bd44-e5155e389be6');
    await trySending(page, 'Send GET', '404');

    expect(sent.filter((each) => each.includes(apiKey))).toHaveLength(3);
    expect(sent.filter((each) => each.includes(privateKey))).toEqual([]);
    const stored = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(stored).toBe('[{"vitepress-theme-appearance":"auto"},{},""]');
  }, 120_000);

  it('a form of the API reference creates, cancels and lists orders with the typed exchange keys', async () => {
    const { apiKey, secret } = app.exchange.signing.credentials;
    const page = await open('reference/createOrder');
    const openForm = async (name: string): Promise<void> => {
      await page.getByRole('link', { name, exact: true }).first().click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await page.locator('.try-it summary').click();
    };
    await page.locator('.try-it summary').click();
    await page.getByLabel('exchange key').fill(apiKey);
    await page.getByLabel('its secret').fill(secret);
    await trySending(page, 'Send POST', '201');
    const text = (await page.locator('.try-it pre').textContent())!;
    const { order } = JSON.parse(text.slice(text.indexOf('{'))) as {
      order: { id: string; withdraw_address: string };
    };

    await openForm('Cancel an order');
    await page.getByLabel('id path, required').fill(order.id);
    await page.getByLabel('withdraw_address of the order').fill(order.withdraw_address);
    await trySending(page, 'Send PATCH', '200');

    await openForm('List orders, newest first');
    const today = new Date().toISOString().slice(0, 10);
    await page.getByLabel('start_date').fill(today);
    await page.getByLabel('end_date').fill(today);
    await trySending(page, 'Send GET', '200');
    expect(await page.locator('.try-it pre').textContent()).toContain(`"id": "${order.id}"`);
  }, 120_000);

  async function trySending(page: Page, button: string, status: string): Promise<void> {
    await page.getByRole('button', { name: button }).click();
    await page.locator('.try-it .status', { hasText: status }).waitFor();
  }
});

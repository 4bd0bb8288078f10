import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import axe from 'axe-core';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { SIGNED_URL_LASTS_MS } from '../../src/contexts/exchange/application/signed-url.js';
import { CLOCK, type Clock } from '../../src/kernel/clock.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { findChromium, TestBrowser, type WatchedPage } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { ADDRESS, keepPicture, payUrl, signedBy, signedUrl, widgetUrl } from '../support/pay-page.js';

const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;
const PHONE: BrowserContextOptions = { viewport: { width: 360, height: 740 } };
const DARK: BrowserContextOptions = { ...PHONE, colorScheme: 'dark', reducedMotion: 'reduce' };
const SETTINGS = {
  ...{ EXCHANGE_CHECK_INTERVAL_MS: '100', EXCHANGE_SCAN_INTERVAL_MS: '50', EXCHANGE_SETTLE_MS: '500' },
  ...{ PAYOUT_FINALITY: '1' },
};

suite('the pay widget in a browser', () => {
  let app: TestApp;
  let browser: TestBrowser;
  let visit: WatchedPage;
  let page: Page;
  let scheme: 'light' | 'dark';

  beforeAll(async () => {
    [app, browser] = await Promise.all([startTestApp(SETTINGS), TestBrowser.start(chromium!)]);
  });
  afterAll(async () => {
    await Promise.all([app?.close(), browser?.close()]);
  });
  beforeEach(() => visitAs({}));
  afterEach(async () => {
    await page.context().close();
    expect(visit.problems).toEqual([]);
  });

  const visitAs = async (options: BrowserContextOptions): Promise<void> => {
    visit = await browser.visit([payUrl(app)], options);
    ({ page } = visit);
    scheme = options.colorScheme === 'dark' ? 'dark' : 'light';
  };
  const heading = (name: string | RegExp) => page.getByRole('heading', { name, level: 1 }).waitFor();
  const press = (name: string | RegExp) => page.getByRole('button', { name }).click();
  /** The focus follows the page once it is painted. */
  const inHeading = () => eventually(() => page.evaluate<boolean>("document.activeElement.tagName === 'H1'"));
  /** A step: what axe-core finds on it in both dresses, and whether it fits; and its picture. */
  const look = async (name: string | null = null): Promise<void> => {
    await page.evaluate(axe.source);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = (await page.evaluate('axe.run()')) as {
        violations: { id: string; impact: string; nodes: { html: string }[] }[];
      };
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(serious.map(({ id, nodes }) => [colorScheme, id, nodes.map(({ html }) => html)])).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: scheme });
    const width = page.viewportSize()!.width;
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    if (name !== null) await keepPicture(page, name);
  };
  const toAmounts = async (url: string): Promise<void> => {
    await page.goto(url);
    await heading('What do you want to pay with?');
    await press('USD Coin USDC on Ethereum');
    await page.getByText('1 USDC = 0.005 SOL').waitFor();
  };
  const toPayment = async (url: string, amount = '100'): Promise<string> => {
    await toAmounts(url);
    await page.getByLabel('You send, in USDC').fill(amount);
    await page.getByText('1 USDC = 0.005 SOL').waitFor();
    await press('Continue to payment');
    await heading(`Send ${amount} USDC`);
    return page.getByLabel('Address', { exact: true }).innerText();
  };
  const ordersOf = async (userId: string): Promise<Record<string, string>[]> => {
    const day = new Date().toISOString().slice(0, 10);
    const list = await app.exchange.signing.list({ start_date: day, end_date: day, user_id: userId });
    return list.json<{ orders: Record<string, string>[] }>().orders;
  };

  it('leads from a currency to completed, with a real deposit, and back to its place after each reload', async () => {
    const url = signedUrl(app, app.exchange.signing, { user_id: 'happy' });
    await page.goto(url);
    await heading('What do you want to pay with?');
    await look('pay-1-currency-desktop');
    await press('USD Coin USDC on Ethereum');
    await heading('How much?');
    await inHeading();
    await page.getByLabel('Receiver gets, in SOL').fill('0,6');
    await expectAmount('You send, in USDC', '120');
    await look('pay-2-amount-desktop');
    await page.reload();
    await heading('How much?');
    await expectAmount('Receiver gets, in SOL', '0.6');

    await press('Continue to payment');
    await heading('Send 120 USDC');
    await inHeading();
    await look('pay-3-payment-desktop');
    const address = await page.getByLabel('Address', { exact: true }).innerText();
    await page.reload();
    await heading('Send 120 USDC');
    expect(await page.getByLabel('Address', { exact: true }).innerText()).toBe(address);
    expect(await page.getByRole('img', { name: `QR code of the address ${address}` }).count()).toBe(1);

    await press('I have sent it');
    await heading('We are looking for your payment');
    await page.reload();
    await heading('We are looking for your payment');
    const { hash } = await app.chain.transfer(address, '120');
    await heading('Payment completed');
    await page.reload();
    await heading('Payment completed');
    await look('pay-4-completed-desktop');
    const [order, ...more] = await ordersOf('happy');
    expect(more).toEqual([]);
    expect(order).toMatchObject({
      ...{ status: 'completed', withdraw_address: ADDRESS, amount_from: '120', amount_to: '0.6' },
      deposit_transaction_hash: hash,
    });
    for (const shown of [hash, order!['withdraw_transaction_hash']!, order!['id']!, ADDRESS])
      await page.getByText(shown, { exact: true }).waitFor();
  });

  const expectAmount = async (label: string, amount: string): Promise<void> => {
    const input = page.getByLabel(label);
    await page.waitForFunction(
      ([element, wanted]) => (element as unknown as { value: string }).value === wanted,
      [await input.elementHandle(), amount] as const,
    );
  };

  it('says how much more is to come when too little came, and takes the rest', async () => {
    await page.context().close();
    await visitAs(PHONE);
    const address = await toPayment(widgetUrl(app, signedBy(app.exchange.signing)));
    await look('pay-3-payment-phone');
    await app.chain.transfer(address, '40');
    await page.getByText('40 USDC arrived, 60 USDC are missing.').waitFor();
    await heading('Send 60 USDC');
    await look('pay-5-short-phone');
    await page.reload();
    await page.getByText('40 USDC arrived, 60 USDC are missing.').waitFor();
    await app.chain.transfer(address, '60.5');
    await heading('Payment completed');
    await look();
    await page.getByText('100.5 USDC', { exact: true }).waitFor();
  });

  it('is cancelled once that is confirmed, and starts again', async () => {
    await page.context().close();
    await visitAs(DARK);
    await page.goto(widgetUrl(app, signedBy(app.exchange.signing)));
    await heading('What do you want to pay with?');
    await look('pay-1-currency-dark');
    await toPayment(page.url());
    await look('pay-3-payment-dark');
    await press('Cancel');
    await look();
    await press('No, go on');
    await press('Cancel');
    await press('Yes, cancel it');
    await heading('You cancelled this payment');
    await look();
    await page.reload();
    await heading('You cancelled this payment');
    await press('Start again');
    await heading('What do you want to pay with?');
  });

  it('makes one order of a double click, and of a response that was lost', async () => {
    await toAmounts(signedUrl(app, app.exchange.signing, { user_id: 'twice' }));
    let lost = 0;
    await page.route('**/widget/api/orders', async (route) => {
      await route.fetch();
      lost += 1;
      await route.abort();
    });
    await page.getByRole('button', { name: 'Continue to payment' }).dblclick();
    await page.getByText('We cannot reach the service').waitFor();
    expect(lost).toBe(1);
    await page.unroute('**/widget/api/orders');
    await page.reload();
    await page.getByText('1 USDC = 0.005 SOL').waitFor();
    await press('Continue to payment');
    await heading('Send 100 USDC');
    expect(await ordersOf('twice')).toHaveLength(1);
    visit.problems.length = 0;
  });

  it('says what is wrong with an amount, at its field', async () => {
    await toAmounts(widgetUrl(app, signedBy(app.exchange.signing)));
    for (const [amount, words] of [
      ['abc', 'Enter an amount'],
      ['1.0000001', 'at most 6 digits'],
      ['4', 'What you send must be from 5 to 5000'],
      ['1000000', 'What you send must be from 5 to 5000'],
    ] as const) {
      await page.getByLabel('You send, in USDC').fill(amount);
      await page.getByText(words).waitFor();
      expect(await page.getByLabel('You send, in USDC').getAttribute('aria-invalid')).toBe('true');
      expect(await page.getByRole('button', { name: 'Continue' }).isDisabled()).toBe(true);
    }
    await look();
  });

  it('is gone through with the keyboard alone', async () => {
    await page.goto(widgetUrl(app, signedBy(app.exchange.signing)));
    await heading('What do you want to pay with?');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await heading('How much?');
    await page.getByText('1 USDC = 0.005 SOL').waitFor();
    for (const key of ['Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
    await heading('Send 100 USDC');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Copy amount');
  });

  it('a link that has expired says so, and an order that was made with it is followed on', async () => {
    const url = signedUrl(app, app.exchange.signing, { user_id: 'late' });
    await toPayment(url);
    const later = new Date(Date.now() + SIGNED_URL_LASTS_MS);
    const clock = jest.spyOn(app.app.get<Clock>(CLOCK, { strict: false }), 'now').mockReturnValue(later);
    try {
      await page.reload();
      await heading('Send 100 USDC');
      expect(await page.getByText('Only USDC on Ethereum').count()).toBe(1);
      await page.context().close();
      visit.problems.length = 0;
      await visitAs(PHONE);
      expect((await page.goto(url))?.status()).toBe(401);
      await heading('This link has expired');
      await look();
    } finally {
      clock.mockRestore();
    }
    visit.problems.length = 0;
  });

  it('is framed by nobody', async () => {
    const html = `<!doctype html><link rel="icon" href="data:,"><iframe src="${widgetUrl(app, signedBy(app.exchange.signing)).replaceAll('&', '&amp;')}"></iframe>`;
    const hostile = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html));
    await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
    try {
      await page.goto(`http://localhost:${(hostile.address() as AddressInfo).port}`);
      expect(await page.frameLocator('iframe').getByRole('heading').count()).toBe(0);
      expect(visit.problems.join('\n')).toContain("frame-ancestors 'none'");
      visit.problems.length = 0;
    } finally {
      hostile.close();
    }
  });
});

suite('the pay widget where orders do not wait long', () => {
  let app: TestApp;
  let browser: TestBrowser;
  beforeAll(async () => {
    const short = { ...SETTINGS, EXCHANGE_ORDER_EXPIRY_SECONDS: '4' };
    [app, browser] = await Promise.all([startTestApp(short), TestBrowser.start(chromium!)]);
  });
  afterAll(async () => {
    await Promise.all([app?.close(), browser?.close()]);
  });

  it('says that the offer has ended, and begins another', async () => {
    const { page } = await browser.visit([payUrl(app)], PHONE);
    await page.goto(widgetUrl(app, signedBy(app.exchange.open)));
    await page.getByRole('button', { name: 'USD Coin' }).click();
    await page.getByRole('button', { name: 'Continue to payment', disabled: false }).click();
    await page.getByRole('heading', { name: 'This offer has ended' }).waitFor({ timeout: 60_000 });
    await keepPicture(page, 'pay-6-ended-phone');
    await page.reload();
    await page.getByRole('button', { name: 'Start again' }).click();
    await page.getByRole('heading', { name: 'What do you want to pay with?' }).waitFor();
  });
});

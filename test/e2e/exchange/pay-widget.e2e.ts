import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions } from 'playwright-core';
import { SIGNED_URL_LASTS_MS } from '../../../src/contexts/exchange/application/signed-links.js';
import { CLOCK, type Clock } from '../../../src/kernel/clock.js';
import { onTestApp, startTestApp, type TestApp } from '../../support/app.js';
import { findChromium, TestBrowser } from '../../support/http/browser.js';
import { PayGuest } from '../../support/exchange/pay-guest.js';
import {
  ADDRESS,
  keepPicture,
  PAY_SETTINGS,
  signedBy,
  signedUrl,
  widgetUrl,
} from '../../support/exchange/pay-page.js';

const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;
const PHONE: BrowserContextOptions = {
  viewport: { width: 360, height: 740 },
  hasTouch: true,
  isMobile: true,
};
const DARK: BrowserContextOptions = { ...PHONE, colorScheme: 'dark', reducedMotion: 'reduce' };

let browser: TestBrowser;
beforeAll(async () => {
  if (chromium !== null) browser = await TestBrowser.start(chromium);
});
afterAll(() => browser?.close());

suite('the pay widget in a browser', () => {
  const app = onTestApp(PAY_SETTINGS);
  let guest: PayGuest;

  beforeEach(async () => {
    guest = await PayGuest.arrive(app, browser);
  });
  afterEach(() => guest.leave());

  const comeAgainAs = (options: BrowserContextOptions): Promise<void> =>
    guest
      .leave()
      .then(() => PayGuest.arrive(app, browser, options))
      .then((next) => void (guest = next));
  const link = (): string => widgetUrl(app, signedBy(app.exchange.signing));
  const ordersOf = async (userId: string): Promise<Record<string, string>[]> => {
    const day = new Date().toISOString().slice(0, 10);
    const list = await app.exchange.signing.list({ start_date: day, end_date: day, user_id: userId });
    return list.json<{ orders: Record<string, string>[] }>().orders;
  };

  it('leads from a currency to completed, with a real deposit, and back to its place after each reload', async () => {
    const { page } = guest;
    await page.goto(signedUrl(app, app.exchange.signing, { user_id: 'happy' }));
    await guest.heading('chooseHeading');
    await guest.check('pay-1-currency-desktop');
    await page.getByRole('button', { name: 'USD Coin USDC on Ethereum (sandbox)' }).click();
    await guest.heading('amountHeading');
    await guest.inHeading();
    await guest.field('amountTo', 'SOL').fill('0,6');
    await guest.expectField('amountFrom', 'USDC', '120');
    await guest
      .text('amountUnderstood', { amount: '120', symbol: 'USDC', toAmount: '0.6', toSymbol: 'SOL' })
      .waitFor();
    await guest.check('pay-2-amount-desktop');
    await page.reload();
    await guest.heading('amountHeading');
    await guest.expectField('amountTo', 'SOL', '0.6');

    await guest.press('amountSubmit');
    const requested = { amount: '120', symbol: 'USDC' };
    await guest.heading('payHeading', requested);
    await guest.inHeading();
    expect(await page.title()).toBe('Waiting for your payment · Test merchant');
    await guest.check('pay-3-payment-desktop');
    const address = await guest.address();
    await page.reload();
    await guest.heading('payHeading', requested);
    expect(await guest.address()).toBe(address);
    const label = guest.says('payQr', { ...requested, address });
    expect(await page.getByRole('img', { name: label }).count()).toBe(1);

    await guest.press('paySent');
    await guest.heading('saidHeading');
    expect(await page.title()).toBe('We are looking for your payment · Test merchant');
    await page.reload();
    await guest.heading('saidHeading');
    const { hash } = await app.chain.transfer(address, '120');
    await guest.heading('completedHeading');
    await page.reload();
    await guest.heading('completedHeading');
    expect(await page.title()).toBe('Payment completed · Test merchant');
    await guest.check('pay-4-completed-desktop');
    const [order, ...more] = await ordersOf('happy');
    expect(more).toEqual([]);
    expect(order).toMatchObject({
      status: 'completed',
      withdraw_address: ADDRESS,
      amount_from: '120',
      amount_to: '0.6',
      deposit_transaction_hash: hash,
    });
    for (const displayed of [hash, order!['withdraw_transaction_hash']!, order!['id']!, ADDRESS])
      await page.getByText(displayed, { exact: true }).waitFor();
  });

  it('says how much more is to come when too little came, and takes the rest', async () => {
    await comeAgainAs(PHONE);
    const address = await guest.toPayment(link());
    await guest.check('pay-3-payment-phone');
    const first = await app.chain.transfer(address, '40');
    const partly = { amount: '40', missing: '60', symbol: 'USDC' };
    await guest.text('payPartly', partly).waitFor();
    await guest.heading('payHeading', { amount: '60', symbol: 'USDC' });
    await guest.page.getByText(first.hash, { exact: true }).waitFor();
    await guest.check('pay-5-short-phone');
    await guest.page.reload();
    await guest.text('payPartly', partly).waitFor();
    const second = await app.chain.transfer(address, '60.5');
    await guest.heading('completedHeading');
    await guest.check('pay-4-completed-phone');
    await guest.page.getByText('100.5 USDC', { exact: true }).waitFor();
    for (const { hash } of [first, second]) await guest.page.getByText(hash, { exact: true }).waitFor();
  });

  it('still shows a completed payment after Back and Forward, and neither offers its address nor another order', async () => {
    const { page } = guest;
    const user = 'went-back';
    await page.goto('about:blank');
    const address = await guest.toPayment(signedUrl(app, app.exchange.signing, { user_id: user }));
    await app.chain.transfer(address, '100');
    await guest.heading('completedHeading');
    await page.goBack();
    expect(page.url()).toBe('about:blank');
    await page.goForward();
    await guest.heading('completedHeading');
    expect(await page.getByText(address, { exact: true }).count()).toBe(0);
    expect(await guest.button('payCancel').count()).toBe(0);
    expect(await ordersOf(user)).toHaveLength(1);
  });

  it('is cancelled once that is confirmed, with the safe choice first, and starts again', async () => {
    await comeAgainAs(DARK);
    await guest.page.goto(link());
    await guest.heading('chooseHeading');
    await guest.check('pay-1-currency-dark');
    await guest.toPayment(guest.page.url());
    await guest.check('pay-3-payment-dark');
    await guest.press('payCancel');
    await guest.check('pay-7-cancel-dark');
    expect(await guest.page.evaluate('document.activeElement.textContent')).toBe(guest.says('cancelKeep'));
    const fill = (key: 'cancelKeep' | 'cancelYes'): Promise<string> =>
      guest
        .button(key)
        .evaluate((button) => button.ownerDocument.defaultView!.getComputedStyle(button).backgroundColor);
    expect(await fill('cancelYes')).toBe('rgba(0, 0, 0, 0)');
    expect(await fill('cancelKeep')).not.toBe('rgba(0, 0, 0, 0)');
    // Enter keeps the payment.
    await guest.page.keyboard.press('Enter');
    await guest.press('payCancel');
    await guest.press('cancelYes');
    await guest.heading('cancelledHeading');
    await guest.check();
    await guest.page.reload();
    await guest.heading('cancelledHeading');
    await guest.press('startAgain');
    await guest.heading('chooseHeading');
  });

  it('makes one order of a double click, and of a response that was lost', async () => {
    await guest.toAmounts(signedUrl(app, app.exchange.signing, { user_id: 'twice' }));
    let lost = 0;
    await guest.page.route('**/widget/api/orders', async (route) => {
      await route.fetch();
      lost += 1;
      await route.abort();
    });
    await guest.button('amountSubmit').dblclick();
    await guest.text('troubleUnreachable').waitFor();
    expect(lost).toBe(1);
    await guest.page.unroute('**/widget/api/orders');
    await guest.page.reload();
    await guest.quoted();
    await guest.press('amountSubmit');
    await guest.heading('payHeading', { amount: '100', symbol: 'USDC' });
    expect(await ordersOf('twice')).toHaveLength(1);
    guest.forgive();
  });

  it('says what is wrong with an amount, at its field', async () => {
    await guest.toAmounts(link());
    const limits = { minimum: '5', maximum: '5,000', symbol: 'USDC' };
    for (const [amount, words] of [
      ['abc', guest.says('amountMissing', { example: '1,250.5' })],
      ['1.0000001', guest.says('amountDecimals', { decimals: 6 })],
      ['5.000', guest.says('amountAmbiguous', { text: '5.000', less: '5', more: '5000' })],
      ['4', guest.says('amountOutside', limits)],
      ['1,000,000', guest.says('amountOutside', limits)],
    ] as const) {
      await guest.field('amountFrom', 'USDC').fill(amount);
      await guest.page.getByText(words).waitFor();
      expect(await guest.field('amountFrom', 'USDC').getAttribute('aria-invalid')).toBe('true');
      expect(await guest.button('amountSubmit').isDisabled()).toBe(true);
    }
    await guest.check();
  });

  it('is gone through with the keyboard alone', async () => {
    const { keyboard } = guest.page;
    await guest.page.goto(link());
    await guest.heading('chooseHeading');
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await guest.heading('amountHeading');
    await guest.quoted();
    for (const key of ['Tab', 'Tab', 'Enter']) await keyboard.press(key);
    await guest.heading('payHeading', { amount: '100', symbol: 'USDC' });
    const focused = (): Promise<string> =>
      guest.page.evaluate('document.activeElement.getAttribute("aria-label")');
    for (const key of ['Tab', 'Tab']) await keyboard.press(key);
    expect(await focused()).toBe('Copy Amount');
  });

  it('a link that has expired says so, and an order that was created with it is still followed', async () => {
    const url = signedUrl(app, app.exchange.signing, { user_id: 'late' });
    await guest.toPayment(url);
    const later = new Date(Date.now() + SIGNED_URL_LASTS_MS);
    const clock = jest.spyOn(app.app.get<Clock>(CLOCK, { strict: false }), 'now').mockReturnValue(later);
    try {
      await guest.page.reload();
      await guest.heading('payHeading', { amount: '100', symbol: 'USDC' });
      guest.forgive();
      await comeAgainAs(PHONE);
      expect((await guest.page.goto(url))?.status()).toBe(401);
      await guest.heading('expiredLink');
      await guest.check();
    } finally {
      clock.mockRestore();
    }
    guest.forgive();
  });

  it('is framed by nobody', async () => {
    const html = `<!doctype html><link rel="icon" href="data:,"><iframe src="${link().replaceAll('&', '&amp;')}"></iframe>`;
    const hostile = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html));
    await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
    try {
      await guest.page.goto(`http://localhost:${(hostile.address() as AddressInfo).port}`);
      expect(await guest.page.frameLocator('iframe').getByRole('heading').count()).toBe(0);
      expect(guest.problems.join('\n')).toContain("frame-ancestors 'none'");
      guest.forgive();
    } finally {
      hostile.close();
    }
  });
});

suite('the pay widget where orders do not wait long', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ ...PAY_SETTINGS, EXCHANGE_ORDER_EXPIRY_SECONDS: '4' });
  });
  afterAll(() => app?.close());

  it('says that the offer has ended, lists what arrives after it, and begins another', async () => {
    const guest = await PayGuest.arrive(app, browser, PHONE);
    await guest.toAmounts(widgetUrl(app, signedBy(app.exchange.open)));
    await guest.press('amountSubmit');
    const address = await guest.address();
    await guest.page
      .getByRole('heading', { name: guest.says('expiredHeading') })
      .waitFor({ timeout: 60_000 });
    await keepPicture(guest.page, 'pay-6-ended-phone');
    // The page stays open, and is not loaded again.
    const { hash } = await app.chain.transfer(address, '12.5');
    await guest.page.getByText(hash, { exact: true }).waitFor({ timeout: 60_000 });
    await guest.page.getByText('Your transfer, too late · 12.5 USDC', { exact: true }).waitFor();
    await guest.text('refundable', { amount: '12.5', symbol: 'USDC' }).waitFor();
    await guest.check('pay-8-late-phone');
    await guest.page.reload();
    await guest.press('startAgain');
    await guest.heading('chooseHeading');
    await guest.leave();
  });
});

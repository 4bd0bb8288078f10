import { describe, expect, it, jest } from '@jest/globals';
import type { BrowserContextOptions, Route } from 'playwright-core';
import { SIGNED_URL_LASTS_MS } from '../../../src/contexts/exchange/orders/order-signature.guard.js';
import type { PayOrder } from '../../../src/contexts/exchange/pay/pay.dto.js';
import { CLOCK, type Clock } from '../../../src/kernel/clock.js';
import { onTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { canBrowse, onTestBrowser, SIZES } from '../../support/http/browser.js';
import { PayGuest } from './pay-guest.js';
import { ADDRESS, ordersOf, signedBy, signedUrl, widgetUrl } from '../../support/exchange/pay-page.js';
import { testLanguages } from './pay-widget-languages.tests.js';

const PHONE: BrowserContextOptions = { viewport: SIZES.phone, hasTouch: true, isMobile: true };
const SMALL: BrowserContextOptions = { ...PHONE, viewport: { width: 360, height: 740 } };
const DARK: BrowserContextOptions = { ...SMALL, colorScheme: 'dark', reducedMotion: 'reduce' };

(canBrowse() ? describe : describe.skip)('the pay widget in a browser', () => {
  /** A separate service, because tests change its clock and settings. */
  const app = onTestApp();
  const browser = onTestBrowser();
  const arrive = (options?: BrowserContextOptions): Promise<PayGuest> =>
    PayGuest.arrive(app, browser, options);
  const link = (): string => widgetUrl(app, signedBy(app.exchange.signing));
  it('the pay page leads from a currency to completion, and restores its step after each reload', async () => {
    const guest = await arrive();
    const { page } = guest;
    await page.goto(signedUrl(app, app.exchange.signing, { user_id: 'happy' }));
    await guest.heading('chooseHeading');
    await guest.check();
    await page.getByRole('button', { name: 'USD Coin USDC on Ethereum (sandbox)' }).click();
    await guest.heading('amountHeading');
    await guest.focused('h1');
    await guest.field('amountTo', { symbol: 'SOL' }).fill('0,6');
    await guest.expectField('amountFrom', 'USDC', '120');
    await guest
      .text('amountUnderstood', { amount: '120', symbol: 'USDC', toAmount: '0.6', toSymbol: 'SOL' })
      .waitFor();
    await guest.check();
    await page.reload();
    await guest.heading('amountHeading');
    await guest.expectField('amountTo', 'SOL', '0.6');

    await guest.press('amountSubmit');
    const requested = { amount: '120', symbol: 'USDC' };
    await guest.heading('payHeading', requested);
    await guest.focused('h1');
    expect(await page.title()).toBe('Waiting for your payment · Test merchant');
    await guest.check('pay-3-payment-desktop');
    const address = await guest.address();
    await page.reload();
    await guest.heading('payHeading', requested);
    expect(await guest.address()).toBe(address);
    const label = guest.says('payQr', { ...requested, address });
    expect(await page.getByRole('img', { name: label }).count()).toBe(1);
    const [{ id: number } = {}] = await ordersOf(app, 'happy');
    expect(await guest.field('order').innerText()).toBe(number);

    await guest.press('paySent');
    await guest.heading('saidHeading');
    expect(await guest.field('order').innerText()).toBe(number);
    expect(await page.title()).toBe('We are looking for your payment · Test merchant');
    await page.reload();
    await guest.heading('saidHeading');
    const { hash } = await app.chain.transfer(address, '120');
    await guest.heading('completedHeading');
    await page.reload();
    await guest.heading('completedHeading');
    expect(await page.title()).toBe('Payment completed · Test merchant');
    await guest.check();
    const [order, ...more] = await ordersOf(app, 'happy');
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

  it('a partial payment displays the missing amount, accepts the rest, and survives Back and Forward', async () => {
    const guest = await arrive(SMALL);
    const { page } = guest;
    await page.goto('about:blank');
    const address = await guest.toPayment(signedUrl(app, app.exchange.signing, { user_id: 'short' }));
    await guest.check();
    const first = await app.chain.transfer(address, '40');
    const partly = { amount: '40', missing: '60', symbol: 'USDC' };
    await guest.text('payPartly', partly).waitFor();
    await guest.heading('payHeading', { amount: '60', symbol: 'USDC' });
    await page.getByText(first.hash, { exact: true }).waitFor();
    await guest.check();
    await page.reload();
    await guest.text('payPartly', partly).waitFor();
    const second = await app.chain.transfer(address, '60.5');
    await guest.heading('completedHeading');
    await guest.check();
    await page.getByText('100.5 USDC', { exact: true }).waitFor();
    for (const { hash } of [first, second]) await page.getByText(hash, { exact: true }).waitFor();
    await page.goBack();
    expect(page.url()).toBe('about:blank');
    await page.goForward();
    await guest.heading('completedHeading');
    expect(await page.getByText(address, { exact: true }).count()).toBe(0);
    expect(await guest.button('payCancel').count()).toBe(0);
    expect(await ordersOf(app, 'short')).toHaveLength(1);
  });

  it('an order is cancelled after a confirmation that focuses the safe choice, and a new order can start', async () => {
    const guest = await arrive(DARK);
    await guest.page.goto(link());
    await guest.heading('chooseHeading');
    await guest.check();
    await guest.toPayment(guest.page.url());
    await guest.check();
    await guest.press('payCancel');
    await guest.check();
    expect(await guest.page.evaluate('document.activeElement.textContent')).toBe(guest.says('cancelKeep'));
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

  it('a double click, or a retry after a lost response, creates only one order', async () => {
    const guest = await arrive();
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
    expect(await ordersOf(app, 'twice')).toHaveLength(1);
    guest.problems.length = 0;
  });

  it('the pay page works with the keyboard alone', async () => {
    const guest = await arrive();
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

  it('an expired link is reported, but its order is still displayed, in other tabs and browsers too', async () => {
    const guest = await arrive();
    const url = signedUrl(app, app.exchange.signing, { user_id: 'late' });
    await guest.toPayment(url);
    const later = new Date(Date.now() + SIGNED_URL_LASTS_MS);
    const clock = jest.spyOn(app.app.get<Clock>(CLOCK, { strict: false }), 'now').mockReturnValue(later);
    try {
      await guest.page.reload();
      await guest.heading('payHeading', { amount: '100', symbol: 'USDC' });
      guest.problems.length = 0;
      const other = await arrive(SMALL);
      expect((await other.page.goto(url))?.status()).toBe(401);
      await other.heading('expiredLink');
      await other.check();
      // The page now has the address of the order, on every device.
      await other.page.goto('about:blank');
      await other.page.goto(guest.page.url());
      await other.heading('payHeading', { amount: '100', symbol: 'USDC' });
      other.problems.length = 0;
      // The browser with the order opens the link itself.
      const tab = await guest.page.context().newPage();
      await tab.goto(url);
      await tab
        .getByRole('heading', { name: guest.says('payHeading', { amount: '100', symbol: 'USDC' }) })
        .waitFor();
    } finally {
      clock.mockRestore();
    }
    guest.problems.length = 0;
  });

  testLanguages(app, browser);

  it('the pay page warns that an address needs a tag, copies the tag, and counts down by the server clock', async () => {
    const guest = await arrive({ permissions: ['clipboard-read', 'clipboard-write'] });
    await guest.page.addInitScript(`{
      const now = Date.now;
      Date.now = () => now() - ${10 * 60_000};
    }`);
    const tag = '778899';
    let displayed = '';
    const withTag = async (route: Route): Promise<void> => {
      const response = await route.fetch();
      const body = (await response.json()) as PayOrder;
      displayed = JSON.stringify({ ...body, order: { ...body.order, deposit_address_tag: tag } });
      await route.fulfill({ response, body: displayed });
    };
    await guest.page.route('**/widget/api/orders', withTag);
    await guest.page.route('**/widget/api/orders/*', (route) => route.fulfill({ body: displayed }));
    await guest.toPayment(link());
    const clock = await guest.page.locator('.small .clock').innerText();
    const secondsLeft = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
    expect(secondsLeft).toBeLessThanOrEqual(3600);
    expect(secondsLeft).toBeGreaterThan(3600 - 120);
    await guest.text('payTag').waitFor();
    await guest.text('payTagText').waitFor();
    // The page copies asynchronously.
    const copied = (text: string): Promise<unknown> =>
      eventually(async () => (await guest.page.evaluate('navigator.clipboard.readText()')) === text);
    await guest.press('copyThing', { thing: guest.says('tag') });
    await copied(tag);
    await guest.press('copyThing', { thing: guest.says('payAmount') });
    await copied('100');
    // Wallets support no URI with a tag, so that the code has the address alone.
    expect(await guest.page.locator('.wallet').count()).toBe(0);
    await guest.check();
  });

  it('displays no address after the end of the offer while the service checks for a payment', async () => {
    const guest = await arrive();
    let ending: PayOrder | undefined;
    await guest.page.route('**/widget/api/orders', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as PayOrder;
      ending = { ...body, order: { ...body.order, expires_at: new Date(body.now + 3_000).toISOString() } };
      await route.fulfill({ response, body: JSON.stringify(ending) });
    });
    await guest.page.route('**/widget/api/orders/*', (route) =>
      route.fulfill({ body: JSON.stringify({ ...ending!, now: Date.now() }) }),
    );
    await guest.toPayment(link());
    await guest.heading('expiredHeading');
    await guest.text('endedText').waitFor();
    await guest.field('order').waitFor();
    expect(await guest.field('payAddress').count()).toBe(0);
    expect(await guest.button('paySent').count()).toBe(0);
    await guest.check();
  });

  it('the end of the offer is reported, a late payment is listed, and another offer can be started', async () => {
    const guest = await arrive(SMALL);
    const { page } = guest;
    const { exchangeOrderExpirySeconds } = app.config;
    await page.clock.install();
    try {
      Object.assign(app.config, { exchangeOrderExpirySeconds: 4 });
      await guest.toAmounts(widgetUrl(app, signedBy(app.exchange.open)));
      await guest.press('amountSubmit');
      const address = await guest.address();
      await guest.text('expiredText').waitFor();
      await guest.heading('expiredHeading');
      const { hash } = await app.chain.transfer(address, '12.5');
      // The open page reads such an order every 15 seconds.
      await eventually(async () => {
        await page.clock.fastForward(16_000);
        return (await page.getByText(hash, { exact: true }).count()) > 0;
      });
      await page.getByText('Your transfer, too late · 12.5 USDC', { exact: true }).waitFor();
      await guest.text('refundable', { amount: '12.5', symbol: 'USDC' }).waitFor();
      await guest.heading('lateHeading');
      expect(await guest.text('expiredText').count()).toBe(0);
      await guest.check();
      await page.reload();
      await guest.press('startAgain');
      await guest.heading('chooseHeading');
    } finally {
      Object.assign(app.config, { exchangeOrderExpirySeconds });
    }
  });
});

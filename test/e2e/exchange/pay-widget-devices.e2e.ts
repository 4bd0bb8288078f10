import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Route } from 'playwright-core';
import type { PayOrder } from '../../../src/contexts/exchange/http/pay/pay-types.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { findChromium, TestBrowser } from '../../support/http/browser.js';
import { PayGuest } from '../../support/exchange/pay-guest.js';
import { PAY_SETTINGS, signedBy, widgetUrl } from '../../support/exchange/pay-page.js';

const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;

suite('the pay page on a device', () => {
  let app: TestApp;
  let browser: TestBrowser;
  let guest: PayGuest;
  beforeAll(async () => {
    [app, browser] = await Promise.all([startTestApp(PAY_SETTINGS), TestBrowser.start(chromium!)]);
  });
  afterAll(async () => {
    await Promise.all([app?.close(), browser?.close()]);
  });
  afterEach(() => guest.leave());

  const link = (): string => widgetUrl(app, signedBy(app.exchange.signing));
  /** Seconds that the page says are left. */
  const secondsLeft = async (): Promise<number> => {
    const text = await guest.page.locator('.small .clock').innerText();
    return text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  };

  it.each([-10, 10])('whose clock is %d minutes off counts down by the clock of the server', async (off) => {
    guest = await PayGuest.arrive(app, browser);
    await guest.page.addInitScript(`{
      const now = Date.now;
      Date.now = () => now() + ${off * 60_000};
    }`);
    await guest.toPayment(link());
    expect(await guest.page.evaluate<number>('Date.now()')).not.toBeCloseTo(Date.now(), -5);
    const left = await secondsLeft();
    expect(left).toBeLessThanOrEqual(3600);
    expect(left).toBeGreaterThan(3600 - 120);
  });

  it('copies the tag of an address that needs one, and warns that it must not be left out', async () => {
    guest = await PayGuest.arrive(app, browser, { permissions: ['clipboard-read', 'clipboard-write'] });
    const tag = '778899';
    let displayed = '';
    const withTag = async (route: Route): Promise<void> => {
      const response = await route.fetch();
      const body = (await response.json()) as PayOrder;
      displayed = JSON.stringify({ ...body, order: { ...body.order, deposit_address_tag: tag } });
      await route.fulfill({ response, body: displayed });
    };
    await guest.page.route('**/widget/api/orders', withTag);
    await guest.page.route('**/widget/api/orders/*/events', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: `data: ${displayed}\n\n` }),
    );
    await guest.toPayment(link());
    await guest.text('payTag').waitFor();
    await guest.text('payTagText').waitFor();
    await guest.press('copyThing', { thing: guest.says('tag') });
    expect(await guest.page.evaluate('navigator.clipboard.readText()')).toBe(tag);
    await guest.press('copyThing', { thing: guest.says('payAmount') });
    expect(await guest.page.evaluate('navigator.clipboard.readText()')).toBe('100');
    // Wallets know no URI with a tag: the code has the address alone.
    expect(await guest.page.locator('.wallet').count()).toBe(0);
    await guest.check();
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { SetExchangeKeyPage } from '../../../src/contexts/access/application/exchange-key-commands.js';
import { logoOf } from '../../../src/contexts/access/domain/exchange-key.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { findChromium, TestBrowser } from '../../support/http/browser.js';
import { PayGuest } from '../../support/exchange/pay-guest.js';
import { PAY_SETTINGS, signedBy, signedUrl, widgetUrl } from '../../support/exchange/pay-page.js';

const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;
const SIZES = { desktop: { width: 1000, height: 820 }, phone: { width: 375, height: 740 } };
const PHONE = { viewport: SIZES.phone, hasTouch: true, isMobile: true };

/** What people type, in each language, for five thousand; and what the page writes for it. */
const LANGUAGES = [
  { locale: 'en-GB', typed: ['5,000', '5 000', '5000'], written: '5,000', ambiguous: ['5.000', '1.125'] },
  { locale: 'de-DE', typed: ['5.000', '5 000', '5000'], written: '5.000', ambiguous: ['5,000', '1,125'] },
  { locale: 'es-ES', typed: ['5.000', '5\u202f000', '5000'], written: '5000', ambiguous: ['5,000', '1,125'] },
] as const;

let app: TestApp;
let browser: TestBrowser;
beforeAll(async () => {
  if (chromium === null) return;
  [app, browser] = await Promise.all([startTestApp(PAY_SETTINGS), TestBrowser.start(chromium)]);
});
afterAll(async () => {
  await Promise.all([app?.close(), browser?.close()]);
});

suite.each(LANGUAGES)('the pay page in $locale', ({ locale, typed, written, ambiguous }) => {
  const lang = locale.slice(0, 2);
  let guest: PayGuest;
  afterEach(() => guest.leave());

  const link = (): string => widgetUrl(app, signedBy(app.exchange.signing));

  it('reads five thousand however it is written, and says what it understood before there is an order', async () => {
    guest = await PayGuest.arrive(app, browser, { locale, viewport: SIZES.desktop });
    await guest.toAmounts(link());
    expect(await guest.page.evaluate('document.documentElement.lang')).toBe(lang);
    const understood = { amount: written, symbol: 'USDC', toAmount: '25', toSymbol: 'SOL' };
    for (const text of [...typed, written]) {
      await guest.field('amountFrom', 'USDC').fill('');
      await guest.field('amountFrom', 'USDC').fill(text);
      await guest.text('amountUnderstood', understood).waitFor();
    }
    // The limits, as the page writes them, are amounts that it reads.
    await guest.text('amountLimits', { minimum: '5', maximum: written, symbol: 'USDC' }).waitFor();
    for (const text of ambiguous) {
      await guest.field('amountFrom', 'USDC').fill(text);
      await guest.page.getByText(text, { exact: false }).and(guest.page.locator('.error')).waitFor();
      expect(await guest.button('amountSubmit').isDisabled()).toBe(true);
    }
    await guest.check(`pay-2-ambiguous-${lang}-desktop`);
    await guest.field('amountFrom', 'USDC').fill(typed[0]);
    await guest.text('amountUnderstood', understood).waitFor();
    await guest.press('amountSubmit');
    await guest.heading('payHeading', { amount: written, symbol: 'USDC' });
    const { orders } = await todays();
    expect(orders[0]).toMatchObject({ amount_from: '5000', status: 'pending' });
  });

  const todays = async () => {
    const day = new Date().toISOString().slice(0, 10);
    const list = await app.exchange.signing.list({ start_date: day, end_date: day });
    return list.json<{ orders: Record<string, string>[] }>();
  };
});

suite('the pay page on a phone in German, and on a desktop in Spanish', () => {
  let guest: PayGuest;
  afterEach(() => guest.leave());

  it('says on each step that it is a sandbox, and pays with test money', async () => {
    guest = await PayGuest.arrive(app, browser, { locale: 'de-DE', ...PHONE });
    const isSandbox = () => guest.text('sandboxText').waitFor();
    await guest.toAmounts(signedUrl(app, app.exchange.signing, { user_id: `test-de` }));
    await isSandbox();
    await guest.check(`pay-2-amount-de-phone`);
    await guest.press('amountSubmit');
    const address = await guest.address();
    await isSandbox();
    const uri = await guest.page.getByRole('link', { name: guest.says('payWallet') }).getAttribute('href');
    const usdc = app.chain.usdcAddress.toLowerCase();
    expect(uri!.toLowerCase()).toBe(
      `ethereum:${usdc}@31337/transfer?address=${address.toLowerCase()}&uint256=100000000`,
    );
    await guest.check(`pay-3-payment-de-phone`);
    await guest.press('sandboxPay', { amount: '100', symbol: 'USDC' });
    await guest.text('sandboxPaid').waitFor();
    await guest.heading('completedHeading');
    await isSandbox();
    expect(await guest.page.title()).toBe(`${guest.says('completedHeading')} · Test merchant`);
    await guest.check(`pay-4-completed-de-phone`);
  });

  it('has the logo and the links of the key, and leads back to where the link says', async () => {
    const key = await app.newExchangeKey(false);
    const page = {
      logo: logoOf(PNG),
      helpUrl: 'https://shop.example/help',
      termsUrl: 'https://shop.example/terms',
    };
    await app.app.get(CommandBus).execute(new SetExchangeKeyPage(key.credentials.apiKey, page));
    guest = await PayGuest.arrive(app, browser, { locale: 'es-ES', viewport: SIZES.desktop });
    const back = 'https://shop.example/orders/1';
    await guest.page.goto(signedUrl(app, key, { return_url: back }));
    await guest.heading('chooseHeading');
    expect(
      await guest.page
        .locator('.merchant img')
        .evaluate((img) => (img as unknown as { naturalWidth: number }).naturalWidth),
    ).toBe(32);
    for (const [name, url] of [
      ['back', back],
      ['help', page.helpUrl],
      ['terms', page.termsUrl],
    ] as const)
      expect(await guest.page.getByRole('link', { name: guest.says(name) }).getAttribute('href')).toBe(url);
    await guest.check(`pay-1-currency-es-desktop`);
  });
});

/** A ring of 32 by 32 pixels. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgAQMAAABJtOi3AAAABlBMVEX////YWhSM1tZVAAAAAXRSTlMAQObYZgAAAFhJREFUeNpljrERgCAUQ+NRUDICozgajuYojEBpwfnEqEdhitf8/CSSlY8BkBbYFGBXhKoETRkOrdBf9LWrtHSq1PhhD3/M623220xxqONd5EqXe8YzaOgCp2dL8ejuWbAAAAAASUVORK5CYII=',
  'base64',
);

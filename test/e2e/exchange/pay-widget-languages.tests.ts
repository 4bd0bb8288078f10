import { expect, it } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import type { BrowserContextOptions } from 'playwright-core';
import { SetKeyPage } from '../../../src/contexts/access/credentials/credentials.commands.js';
import { toLogo } from '../../../src/contexts/access/credentials/credential-kinds.js';
import type { TestApp } from '../../support/app.js';
import { SIZES, type TestBrowser } from '../../support/http/browser.js';
import { PayGuest } from './pay-guest.js';
import { ordersOf, signedUrl } from '../../support/exchange/pay-page.js';

const PHONE: BrowserContextOptions = { viewport: SIZES.phone, hasTouch: true, isMobile: true };

/** Tests of `pay-widget.extended.e2e.ts`. */
export function testLanguages(app: TestApp, browser: TestBrowser): void {
  it('the pay page reads an amount in the format of the browser language and displays it before the order', async () => {
    const guest = await PayGuest.arrive(app, browser, { locale: 'de-DE' });
    await guest.toAmounts(signedUrl(app, app.exchange.signing, { user_id: 'five-thousand' }));
    expect(await guest.page.evaluate('document.documentElement.lang')).toBe('de');
    const understood = { amount: '5.000', symbol: 'USDC', toAmount: '25', toSymbol: 'SOL' };
    // The page accepts the limits in their printed format.
    const limits = { minimum: '5', maximum: '5.000', symbol: 'USDC' };
    await guest.text('amountLimits', limits).waitFor();
    await guest.enterAmount('4');
    await guest.text('amountOutside', limits).waitFor();
    await guest.enterAmount('5,000');
    await guest.page.locator('.error', { hasText: '5,000' }).waitFor();
    expect(await guest.button('amountSubmit').isDisabled()).toBe(true);
    await guest.check();
    await guest.enterAmount('5 000');
    await guest.text('amountUnderstood', understood).waitFor();
    await guest.press('amountSubmit');
    await guest.heading('payHeading', { amount: '5.000', symbol: 'USDC' });
    expect(await ordersOf(app, 'five-thousand')).toMatchObject([{ amount_from: '5000', status: 'pending' }]);
  });

  it('each step of the pay page is marked as a sandbox, and an order can be paid with test money', async () => {
    const guest = await PayGuest.arrive(app, browser, { locale: 'de-DE', ...PHONE });
    const isSandbox = () => guest.text('sandboxText').waitFor();
    await guest.toAmounts(signedUrl(app, app.exchange.signing, { user_id: `test-de` }));
    await isSandbox();
    await guest.check();
    await guest.press('amountSubmit');
    const address = await guest.address();
    await isSandbox();
    const uri = await guest.page.getByRole('link', { name: guest.says('payWallet') }).getAttribute('href');
    const usdc = app.chain.usdcAddress.toLowerCase();
    expect(uri!.toLowerCase()).toBe(
      `ethereum:${usdc}@31337/transfer?address=${address.toLowerCase()}&uint256=100000000`,
    );
    await guest.check('pay-3-payment-de-phone');
    await guest.press('sandboxPay', { amount: '100', symbol: 'USDC' });
    await guest.text('sandboxPaid').waitFor();
    await guest.heading('completedHeading');
    await isSandbox();
    expect(await guest.page.title()).toBe(`${guest.says('completedHeading')} · Test merchant`);
    await guest.check();
  });

  it('the pay page displays the logo and links of its exchange key, and leads back to the return URL', async () => {
    const key = await app.newExchangeKey(false);
    const page = {
      logo: toLogo(PNG),
      help_url: 'https://shop.example/help',
      terms_url: 'https://shop.example/terms',
    };
    const owner = { merchant_id: app.merchant.credentials.apiKey, operator_id: null };
    await app.app.get(CommandBus).execute(new SetKeyPage(key.credentials.apiKey, { ...owner, page }));
    const guest = await PayGuest.arrive(app, browser, { locale: 'es-ES' });
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
      ['help', page.help_url],
      ['terms', page.terms_url],
    ] as const)
      expect(await guest.page.getByRole('link', { name: guest.says(name) }).getAttribute('href')).toBe(url);
    await guest.check();
  });
}

/** A ring of 32 by 32 pixels. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgAQMAAABJtOi3AAAABlBMVEX////YWhSM1tZVAAAAAXRSTlMAQObYZgAAAFhJREFUeNpljrERgCAUQ+NRUDICozgajuYojEBpwfnEqEdhitf8/CSSlY8BkBbYFGBXhKoETRkOrdBf9LWrtHSq1PhhD3/M623220xxqONd5EqXe8YzaOgCp2dL8ejuWbAAAAAASUVORK5CYII=',
  'base64',
);

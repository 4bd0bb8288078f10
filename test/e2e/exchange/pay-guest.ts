import type { BrowserContextOptions } from 'playwright-core';
import type { Messages } from '../../../src/contexts/exchange/pay/pay.dto.js';
import { MESSAGES } from '../../../src/contexts/exchange/pay/pay-page.controller.js';
import type { Locale } from '../../../src/platform/http/pages/locale.js';
import { shortAmount } from '../../../widgets/pay/decimal-text.js';
import type { TestApp } from '../../support/app.js';
import { Reader, type TestBrowser, type WatchedPage } from '../../support/http/browser.js';
import { eventually } from '../../support/eventually.js';
import { payUrl } from '../../support/exchange/pay-page.js';

export class PayGuest extends Reader<Messages> {
  private constructor(
    visit: WatchedPage,
    private readonly locale: Locale,
  ) {
    super(visit, MESSAGES[locale]);
  }

  static async arrive(
    app: TestApp,
    browser: TestBrowser,
    options: BrowserContextOptions = {},
  ): Promise<PayGuest> {
    const locale = (options.locale ?? 'en').slice(0, 2) as Locale;
    return new PayGuest(await browser.visit([payUrl(app)], options), locale);
  }

  async expectField(key: keyof Messages, symbol: string, value: string): Promise<void> {
    await eventually(async () => (await this.field(key, { symbol }).inputValue()) === value);
  }

  /** Opens the page and chooses USDC. */
  async toAmounts(url: string): Promise<void> {
    await this.page.goto(url);
    await this.heading('chooseHeading');
    await this.page.getByRole('button', { name: 'USD Coin' }).click();
    await this.quoted();
  }

  async enterAmount(amount: string): Promise<void> {
    await this.field('amountFrom', { symbol: 'USDC' }).fill(amount);
  }

  async quoted(): Promise<void> {
    const rate = shortAmount('0.005', this.locale);
    await this.text('amountRate', { symbol: 'USDC', toSymbol: 'SOL', rate }).waitFor();
  }

  /** Opens the page up to the deposit address, and returns the address. */
  async toPayment(url: string): Promise<string> {
    await this.toAmounts(url);
    await this.press('amountSubmit');
    await this.heading('payHeading', { amount: '100', symbol: 'USDC' });
    return this.address();
  }

  address(): Promise<string> {
    return this.field('payAddress').innerText();
  }
}

import { expect } from '@jest/globals';
import axe from 'axe-core';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { Words } from '../../../src/contexts/exchange/words/en.js';
import { WORDS } from '../../../src/contexts/exchange/words/words.js';
import type { Locale } from '../../../src/platform/http/pages/locale.js';
import { shortAmount } from '../../../widgets/pay/decimal-text.js';
import type { TestApp } from '../app.js';
import type { TestBrowser } from '../http/browser.js';
import { eventually } from '../eventually.js';
import { keepPicture, payUrl } from './pay-page.js';

type Values = Readonly<Record<string, string | number>>;
type Key = keyof Words;

/** Somebody in front of the pay page, who reads it in their language. */
export class PayGuest {
  private constructor(
    readonly page: Page,
    /** What went wrong on the page. */
    readonly problems: string[],
    private readonly locale: Locale,
    private readonly scheme: 'light' | 'dark',
  ) {}

  static async arrive(
    app: TestApp,
    browser: TestBrowser,
    options: BrowserContextOptions = {},
  ): Promise<PayGuest> {
    const { page, problems } = await browser.visit([payUrl(app)], options);
    const locale = (options.locale ?? 'en').slice(0, 2) as Locale;
    return new PayGuest(page, problems, locale, options.colorScheme === 'dark' ? 'dark' : 'light');
  }

  /** A test provoked what went wrong. */
  forgive(): void {
    this.problems.length = 0;
  }

  async leave(): Promise<void> {
    await this.page.context().close();
    expect(this.problems).toEqual([]);
  }

  says(key: Key, values: Values = {}): string {
    const all: Values = { merchant: 'Test merchant', ...values };
    return WORDS[this.locale][key].replace(/\{(\w+)\}/g, (_, name: string) => String(all[name]));
  }

  /** Waits for the heading of a screen. */
  async heading(key: Key, values: Values = {}): Promise<void> {
    await this.page.getByRole('heading', { name: this.says(key, values), level: 1, exact: true }).waitFor();
  }

  text(key: Key, values: Values = {}): Locator {
    return this.page.getByText(this.says(key, values));
  }

  button(key: Key, values: Values = {}): Locator {
    return this.page.getByRole('button', { name: this.says(key, values), exact: true });
  }

  async press(key: Key, values: Values = {}): Promise<void> {
    await this.button(key, values).click();
  }

  field(key: Key, symbol: string): Locator {
    return this.page.getByLabel(this.says(key, { symbol }), { exact: true });
  }

  copyable(key: Key): Locator {
    return this.page.getByLabel(this.says(key), { exact: true });
  }

  /** Waits for the value of a field. */
  async expectField(key: Key, symbol: string, value: string): Promise<void> {
    await eventually(async () => (await this.field(key, symbol).inputValue()) === value);
  }

  /** Opens the page and chooses USDC. */
  async toAmounts(url: string): Promise<void> {
    await this.page.goto(url);
    await this.heading('chooseHeading');
    await this.page.getByRole('button', { name: 'USD Coin' }).click();
    await this.quoted();
  }

  /** Waits for a quote. */
  async quoted(): Promise<void> {
    const rate = shortAmount('0.005', this.locale);
    await this.text('amountRate', { symbol: 'USDC', toSymbol: 'SOL', rate }).waitFor();
  }

  /** As far as the deposit address, which it returns. */
  async toPayment(url: string, amount = '100'): Promise<string> {
    await this.toAmounts(url);
    await this.field('amountFrom', 'USDC').fill(amount);
    await this.quoted();
    await this.press('amountSubmit');
    await this.heading('payHeading', { amount, symbol: 'USDC' });
    return this.address();
  }

  address(): Promise<string> {
    return this.copyable('payAddress').innerText();
  }

  /** The focus follows the page once it is painted. */
  inHeading(): Promise<unknown> {
    return eventually(() => this.page.evaluate<boolean>("document.activeElement.tagName === 'H1'"));
  }

  /** Checks a screen: what axe-core finds on it in light and dark, and whether it fits; keeps its picture. */
  async check(name: string | null = null): Promise<void> {
    const { page } = this;
    await page.evaluate(axe.source);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = (await page.evaluate('axe.run()')) as {
        violations: { id: string; nodes: { html: string }[] }[];
      };
      // A page of one column has no landmark but its main.
      const found = violations.map(({ id, nodes }) => [colorScheme, id, nodes.map(({ html }) => html)]);
      expect(found).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: this.scheme });
    const width = page.viewportSize()!.width;
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    if (name !== null) await keepPicture(page, name);
  }
}

import { expect } from '@jest/globals';
import axe from 'axe-core';
import { mkdirSync } from 'node:fs';
import type { Frame, Locator, Page } from 'playwright-core';
import type { Words } from '../../../src/contexts/onboarding/words/en.js';
import { WORDS, type Locale } from '../../../src/contexts/onboarding/words/words.js';

export const MERCHANT = 'Test merchant';
const CODE = /\d{6}|\d{3}(?: \d{3}){5}/;
type Values = Readonly<Record<string, string | number>>;
type Key = keyof Words;
export const SIZES = { desktop: { width: 1000, height: 820 }, phone: { width: 375, height: 740 } } as const;

/** Somebody at the onboarding page, in a tab or in a frame, who reads it in their language. */
export class Person {
  private readonly words: Words;

  constructor(
    readonly page: Page | Frame,
    locale: Locale = 'en',
  ) {
    this.words = WORDS[locale];
  }

  says(key: Key, values: Values = {}): string {
    const all: Values = { merchant: MERCHANT, age: 18, ...values };
    return this.words[key].replace(/\{(\w+)\}/g, (_, name: string) => String(all[name]));
  }

  async heading(key: Key): Promise<void> {
    await this.page.getByRole('heading', { name: this.says(key), level: 1, exact: true }).waitFor();
  }

  text(key: Key, values?: Values): Locator {
    return this.page.getByText(this.says(key, values));
  }

  button(key: Key, values?: Values): Locator {
    return this.page.getByRole('button', { name: this.says(key, values), exact: true });
  }

  async press(key: Key): Promise<void> {
    await this.button(key).click();
  }

  field(key: Key): Locator {
    return this.page.getByLabel(this.says(key), { exact: true });
  }

  /** What is said to be wrong with a field; null when nothing is. */
  errorOf(key: Key): Promise<string | null> {
    return this.field(key).evaluate((input) => {
      const error = input.ownerDocument.getElementById(`${input.id}-error`);
      return input.getAttribute('aria-invalid') === 'true' ? error!.textContent : null;
    });
  }

  /** Requests a code and returns the one of the sandbox. */
  async askForCode(): Promise<string> {
    await this.press('phoneSubmit');
    await this.heading('codeHeading');
    return this.sandboxCode();
  }

  async sandboxCode(): Promise<string> {
    const note = this.page.locator('.sandbox', { hasText: CODE });
    return CODE.exec(await note.innerText())![0];
  }

  async enterCode(code: string): Promise<void> {
    await this.field('codeLabel').fill(code);
    await this.press('codeSubmit');
  }

  async confirmPhone(): Promise<void> {
    await this.heading('phoneHeading');
    await this.enterCode(await this.askForCode());
  }

  async enterDetails(lastName = 'Lovelace', birth = '1985-12-10'): Promise<void> {
    await this.heading('detailsHeading');
    await this.field('firstNameLabel').fill('Ada');
    await this.field('lastNameLabel').fill(lastName);
    await this.enterBirth(birth);
    await this.page.getByRole('checkbox').check();
    await this.press('detailsSubmit');
  }

  /** A day, `YYYY-MM-DD`. */
  async enterBirth(birth: string): Promise<void> {
    const [year, month, day] = birth.split('-') as [string, string, string];
    await this.field('birthDay').fill(day);
    await this.field('birthMonth').fill(month);
    await this.field('birthYearLabel').fill(year);
  }

  /** What is said to be wrong with the date of birth; empty when nothing is. */
  async errorOfBirth(): Promise<string> {
    return (await this.page.locator('#birth-error').textContent()) ?? '';
  }

  async choose(document: 'documentsPassport' | 'documentsIdCard' | 'documentsLicence'): Promise<void> {
    await this.heading('documentsHeading');
    await this.page.getByRole('radio', { name: this.says(document) }).check();
  }

  /** One photo by the camera, from the live picture on. */
  async photograph(title: Key): Promise<void> {
    await this.heading(title);
    await this.page.locator('.outline').waitFor();
    await this.press('captureTake');
    await this.heading(title === 'selfie' ? 'captureCheckSelfie' : 'captureCheck');
    await this.press('captureUse');
  }

  /** All photos of a passport, by the camera, and sends them. */
  async showPassport(): Promise<void> {
    await this.choose('documentsPassport');
    await this.press('documentsBegin');
    await this.photograph('documentPassport');
    await this.photograph('selfie');
    await this.press('documentsSubmit');
  }

  /** The same with what the sandbox has for it. */
  async showSamples(): Promise<void> {
    await this.choose('documentsPassport');
    await this.press('documentsBegin');
    for (const title of ['documentPassport', 'selfie'] as const) {
      await this.heading(title);
      await this.press('captureSample');
      await this.press('captureUse');
    }
    await this.press('documentsSubmit');
  }

  /** What axe-core finds on this screen, light and dark: nothing serious. And it fits its width. */
  async picture(picture: string | null = null): Promise<void> {
    const page = 'goto' in this.page && 'emulateMedia' in this.page ? this.page : this.page.page();
    await this.page.evaluate(axe.source);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = (await this.page.evaluate('axe.run()')) as {
        violations: { id: string; impact: string; nodes: { html: string }[] }[];
      };
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(serious.map(({ id, nodes }) => [colorScheme, id, nodes.map(({ html }) => html)])).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: null });
    const overflow = await this.page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(overflow).toBeLessThanOrEqual(0);
    if (picture !== null) await keepPicture(page, picture);
  }

  /** {@link picture}, with a picture for each of two widths. */
  async picturesOf(picture: string): Promise<void> {
    await this.picture();
    const page = this.page as Page;
    const before = page.viewportSize()!;
    for (const [name, size] of Object.entries(SIZES)) {
      await page.setViewportSize(size);
      await keepPicture(page, `${picture}-${name}`);
    }
    await page.setViewportSize(before);
  }
}

/** Keeps a picture for the documents, as `docs/images/<name>.png`, when ONBOARDING_PICTURES is set. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (process.env['ONBOARDING_PICTURES'] === undefined) return;
  mkdirSync('docs/images', { recursive: true });
  await page.screenshot({ path: `docs/images/${name}.png`, fullPage: true, animations: 'disabled' });
}

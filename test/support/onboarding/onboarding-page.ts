import type { Frame, Page } from 'playwright-core';
import { MESSAGES, type Locale, type Messages } from '../../../src/contexts/onboarding/words/messages.js';
import { Reader, type WatchedPage } from '../http/browser.js';

const CODE = /\d{6}|\d{3}(?: \d{3}){5}/;

/** A person at the onboarding page, in a tab or in a frame. */
export class Person<Where extends Page | Frame = Page> extends Reader<Messages, Where> {
  constructor(visit: WatchedPage<Where>, locale: Locale = 'en') {
    super(visit, MESSAGES[locale], { merchant: 'Test merchant', age: 18 });
  }

  errorOf(key: keyof Messages): Promise<string | null> {
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

  async birthError(key: keyof Messages): Promise<void> {
    await this.page.locator('#birth-error', { hasText: this.says(key) }).waitFor();
  }

  async choose(document: 'documentsPassport' | 'documentsIdCard' | 'documentsLicence'): Promise<void> {
    await this.heading('documentsHeading');
    await this.page.getByRole('radio', { name: this.says(document) }).check();
  }

  /** Photographs with the camera, beginning with the live picture. */
  async photograph(title: keyof Messages): Promise<void> {
    await this.heading(title);
    await this.page.locator('.outline').waitFor();
    await this.press('captureTake');
    await this.heading(title === 'selfie' ? 'captureCheckSelfie' : 'captureCheck');
    await this.press('captureUse');
  }

  /** Sends all photos of a passport by the camera. */
  async showPassport(): Promise<void> {
    await this.choose('documentsPassport');
    await this.press('documentsBegin');
    await this.photograph('documentPassport');
    await this.photograph('selfie');
    await this.press('documentsSubmit');
  }

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
}

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { BrowserContextOptions } from 'playwright-core';
import { findChromium } from '../../support/http/browser.js';
import { eventually } from '../../support/eventually.js';
import { SIZES } from '../../support/onboarding/onboarding-page.js';
import { PageHarness } from '../../support/onboarding/page-harness.js';

const suite = findChromium() === null ? describe.skip : describe;
const PHONE: BrowserContextOptions = { viewport: SIZES.phone };
const SMALL: BrowserContextOptions = {
  viewport: { width: 320, height: 568 },
  colorScheme: 'dark',
  reducedMotion: 'reduce',
};

suite('the onboarding page in a tab', () => {
  let harness: PageHarness;
  beforeAll(async () => {
    harness = await PageHarness.start();
  });
  afterAll(() => harness?.close());
  afterEach(() => harness.leave());

  it.each([
    ['en', 'desktop', {}],
    ['de', 'phone', PHONE],
    ['es', null, SMALL],
  ] as const)(
    'leads from the phone number to an active account, and is accessible on every step: %s, %s',
    async (locale, size, options) => {
      const visit = await harness.open(locale, { options });
      const { person, page } = visit;
      const picture = (name: string): Promise<void> =>
        person.picture(size === null ? null : `onboarding-${name}-${size}`);
      await picture('1-phone');
      const code = await person.askForCode();
      await picture('2-code');
      await person.enterCode(code);
      await person.heading('detailsHeading');
      await picture('3-details');
      await person.enterDetails();
      await person.choose('documentsIdCard');
      await picture('4-documents');
      await person.press('documentsBegin');
      await person.heading('documentFront');
      await page.locator('.outline').waitFor();
      await picture('5-camera');
      await person.press('captureTake');
      await person.heading('captureCheck');
      await picture('6-look');
      await person.press('captureUse');
      await person.photograph('documentBack');
      await person.photograph('selfie');
      await person.button('documentsSubmit').waitFor();
      await picture('7-photos');
      await person.press('documentsSubmit');
      await person.heading('doneHeading');
      await person.text('doneClose').waitFor();
      await picture('13-done');
      expect(await harness.stateOf(visit)).toBe('active');
    },
  );

  it('is in its place again after a reload at each step', async () => {
    const { person, page, user } = await harness.open('es');
    const code = await person.askForCode();
    await page.reload();
    await person.enterCode(code);
    await person.heading('detailsHeading');
    await page.reload();
    await person.enterDetails();
    await person.choose('documentsIdCard');
    await page.reload();
    await person.heading('documentsHeading');
    expect(await page.getByRole('radio', { name: person.says('documentsIdCard') }).isChecked()).toBe(true);
    await person.press('documentsBegin');
    await person.photograph('documentFront');
    await person.heading('documentBack');
    await page.reload();
    await person.text('documentsDone').waitFor();
    await person.press('documentsChange');
    await person.heading('detailsHeading');
    await page.reload();
    await person.enterDetails('King');
    await person.press('documentsNext');
    await person.photograph('documentBack');
    await person.photograph('selfie');
    await person.button('documentsSubmit').waitFor();
    await page.reload();
    await person.press('documentsSubmit');
    await person.heading('doneHeading');
    await page.reload();
    await person.heading('doneHeading');
    // The tab stores nothing that was typed.
    const kept = await page.evaluate<string>('JSON.stringify({ ...sessionStorage, ...localStorage })');
    for (const typed of ['Ada', 'Lovelace', 'King', '1985', user.phone, code])
      expect(kept).not.toContain(typed);
    expect(page.url()).not.toContain('session');
  });

  it('says after each wrong code how many attempts are left, and requests a new one after the fifth', async () => {
    const { person, page } = await harness.open('es', { before: (page) => page.clock.install() });
    const code = await person.askForCode();
    const wrong = code === '000000' ? '000001' : '000000';
    await person.enterCode('12');
    expect(await person.errorOf('codeLabel')).toBe(person.says('codeMissing'));
    for (const left of [4, 3, 2]) {
      await person.enterCode(wrong);
      await person.text('codeWrongLeft', { left }).waitFor();
    }
    await person.enterCode(wrong);
    await person.text('codeWrongLast').waitFor();
    await person.picture();
    await person.enterCode(wrong);
    await person.text('codeSpent').waitFor();
    await person.enterCode(code);
    await person.text('codeSpent').waitFor();
    await person.picturesOf('onboarding-2-code-spent');
    expect(await person.button('codeAgain').count()).toBe(0);
    await page.clock.fastForward(31_000);
    await person.press('codeAgain');
    await person.text('codeSentAgain').waitFor();
    await eventually(async () => (await person.sandboxCode()) !== code);
    await person.enterCode(await person.sandboxCode());
    await person.heading('detailsHeading');
  });

  it('continues only with consent and from the minimum age, which it displays beforehand', async () => {
    const { person, page } = await harness.open('de');
    await person.confirmPhone();
    await person.heading('detailsHeading');
    await person.text('birthHint').waitFor();
    await person.press('detailsSubmit');
    for (const [field, error] of [
      ['firstNameLabel', 'firstNameMissing'],
      ['lastNameLabel', 'lastNameMissing'],
    ] as const)
      expect(await person.errorOf(field)).toBe(person.says(error));
    expect(await person.errorOfBirth()).toBe(person.says('birthMissing'));
    await person.text('consentMissing').waitFor();
    await eventually(() => page.evaluate<boolean>("document.activeElement.name === 'first_name'"));
    await person.picturesOf('onboarding-3-details-missing');

    const today = new Date().toISOString().slice(0, 10);
    const tomorrow18 = `${Number(today.slice(0, 4)) - 18}${new Date(Date.now() + 86_400_000).toISOString().slice(4, 10)}`;
    await person.enterDetails('Lovelace', tomorrow18);
    expect(await person.errorOfBirth()).toBe(person.says('birthTooYoung'));
    await person.enterBirth('1985-12-10');
    await page.getByRole('checkbox').uncheck();
    await person.press('detailsSubmit');
    await person.text('consentMissing').waitFor();
    await page.getByRole('checkbox').check();
    await person.press('detailsSubmit');
    await person.heading('documentsHeading');
  });

  it.each(['en', 'es', 'de'] as const)(
    'says of each field what is wrong with it, and of a date why it is none: %s',
    async (locale) => {
      const { person, page } = await harness.open(locale);
      await person.confirmPhone();
      await person.heading('detailsHeading');
      await person.field('firstNameLabel').fill('42');
      await person.field('lastNameLabel').fill('Lovelace');
      for (const [date, error] of [
        ['1985--10', 'birthIncomplete'],
        ['85-12-10', 'birthYear'],
        ['1985-02-29', 'birthImpossible'],
        ['2199-12-10', 'birthPast'],
      ] as const) {
        await person.enterBirth(date);
        await person.press('detailsSubmit');
        expect(await person.errorOfBirth()).toBe(person.says(error));
        expect(await person.errorOf('firstNameLabel')).toBe(person.says('firstNameLetters'));
        expect(await person.errorOf('lastNameLabel')).toBeNull();
      }
      await person.field('firstNameLabel').fill('Ada');
      await person.press('detailsSubmit');
      await eventually(() => page.evaluate<boolean>("document.activeElement.name === 'birth_year'"));
      await person.field('birthMonth').fill({ en: 'December', es: 'diciembre', de: 'Dez.' }[locale]);
      await person.field('birthYearLabel').fill('1985');
      await page.getByRole('checkbox').check();
      await person.press('detailsSubmit');
      await person.heading('documentsHeading');
      await person
        .text('documentsKeptSandbox', { days: { en: '7 days', es: '7 días', de: '7 Tage' }[locale] })
        .waitFor();
      await person.press('documentsBegin');
      await person.text('documentsUnchosen').waitFor();
      await eventually(() => page.evaluate<boolean>("document.activeElement.value === 'passport'"));
      await person.picture(locale === 'en' ? 'onboarding-4-documents-unchosen-desktop' : null);
      await person.choose('documentsPassport');
      expect(await person.text('documentsUnchosen').count()).toBe(0);
      await person.press('documentsBegin');
      await person.heading('documentPassport');
    },
  );

  it('shows the terms that hold now when they changed while the page was open', async () => {
    const { person, page } = await harness.open('es');
    await person.confirmPhone();
    await person.heading('detailsHeading');
    Object.assign(harness.app.config, { onboardingTermsVersion: '2027-01' });
    try {
      await person.enterDetails();
      await person.text('consentChanged').waitFor();
      await person.text('consentVersions', { terms: '2027-01', privacy: 'sandbox' }).waitFor();
      expect(await person.field('lastNameLabel').inputValue()).toBe('Lovelace');
      expect(await page.getByRole('checkbox').isChecked()).toBe(false);
      await person.enterDetails();
      await person.heading('documentsHeading');
    } finally {
      Object.assign(harness.app.config, { onboardingTermsVersion: null });
    }
  });

  it('leads to terms and privacy notice in tabs of their own', async () => {
    const { person, page } = await harness.open('de');
    await person.confirmPhone();
    for (const [link, heading] of [
      ['consentTerms', 'sandboxTerms'],
      ['consentPrivacy', 'sandboxPrivacy'],
    ] as const) {
      const opened = page.context().waitForEvent('page');
      await page.getByRole('link', { name: person.says(link) }).click();
      await (await opened).getByRole('heading', { name: person.says(heading) }).waitFor();
    }
  });
});

import { CommandBus } from '@nestjs/cqrs';
import { describe, expect, it } from '@jest/globals';
import type { BrowserContextOptions } from 'playwright-core';
import { startService } from '../../../sandbox/service.js';
import { DecideReview } from '../../../src/contexts/onboarding/onboardings/operator.commands.js';
import { onboarding } from '../../../src/contexts/onboarding/onboardings/onboarding.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { eventually } from '../../support/eventually.js';
import { canBrowse, SIZES } from '../../support/http/browser.js';
import { onOnboardingPages } from '../../support/onboarding/page-harness.js';
import { describeFramed } from './onboarding-page-framed.tests.js';

const PHONE: BrowserContextOptions = { viewport: SIZES.phone };
const SMALL: BrowserContextOptions = {
  viewport: { width: 320, height: 568 },
  colorScheme: 'dark',
  reducedMotion: 'reduce',
};
const SHOP = 'https://shop.example';

(canBrowse() ? describe : describe.skip)('the onboarding page', () => {
  const pages = onOnboardingPages();

  it.each([
    ['en', 'desktop', {}],
    ['de', 'phone', PHONE],
  ] as const)(
    'the page leads from a phone number to an active account, and each step is accessible: %s, %s',
    async (locale, size, options) => {
      const visit = await pages.open(locale, { options });
      const { person, page } = visit;
      const picture = (name: string): Promise<void> => person.check(`onboarding-${name}-${size}`);
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
      expect(await pages.stateOf(visit)).toBe('active');
    },
  );

  it('each step is restored after a reload, and the page is accessible at 320 pixels', async () => {
    const { person, page, user } = await pages.open('es', { options: SMALL });
    await person.check();
    const code = await person.askForCode();
    await person.check();
    await page.reload();
    await person.enterCode(code);
    await person.heading('detailsHeading');
    await person.check();
    await page.reload();
    await person.enterDetails();
    await person.choose('documentsIdCard');
    await person.check();
    await page.reload();
    await person.heading('documentsHeading');
    expect(await page.getByRole('radio', { name: person.says('documentsIdCard') }).isChecked()).toBe(true);
    await person.press('documentsBegin');
    await person.photograph('documentFront');
    await person.heading('documentBack');
    await page.locator('.outline').waitFor();
    await person.check();
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
    await person.check();
    await page.reload();
    await person.press('documentsSubmit');
    await person.heading('doneHeading');
    await page.reload();
    await person.heading('doneHeading');
    await person.check();
    // The tab stores no typed data.
    const kept = await page.evaluate<string>('JSON.stringify({ ...sessionStorage, ...localStorage })');
    for (const typed of ['Ada', 'Lovelace', 'King', '1985', user.phone, code])
      expect(kept).not.toContain(typed);
    expect(page.url()).not.toContain('session');
  });

  it('each wrong code displays the remaining attempts, and the fifth leads to a new code', async () => {
    const { person, page } = await pages.open('es', { before: (page) => page.clock.install() });
    const code = await person.askForCode();
    const wrong = code === '000000' ? '000001' : '000000';
    await person.enterCode('12');
    expect(await person.errorOf('codeLabel')).toBe(person.says('codeMissing'));
    for (const left of [4, 3, 2, 1, 0]) {
      await person.enterCode(wrong);
      await person
        .text(left > 1 ? 'codeWrongLeft' : left === 1 ? 'codeWrongLast' : 'codeSpent', { left })
        .waitFor();
    }
    await person.check();
    expect(await person.button('codeAgain').count()).toBe(0);
    await page.clock.fastForward(31_000);
    await person.press('codeAgain');
    await person.text('codeSentAgain').waitFor();
    await eventually(async () => (await person.sandboxCode()) !== code);
    await person.enterCode(await person.sandboxCode());
    await person.heading('detailsHeading');
  });

  it('the page continues only with consent and from the minimum age, which it displays beforehand', async () => {
    const { person, page } = await pages.open('de', { at: 'details' });
    await person.text('birthHint').waitFor();
    await person.press('detailsSubmit');
    await person.birthError('birthMissing');
    expect(await person.errorOf('firstNameLabel')).toBe(person.says('firstNameMissing'));
    expect(await person.errorOf('lastNameLabel')).toBe(person.says('lastNameMissing'));
    await person.text('consentMissing').waitFor();
    await person.focused('[name=first_name]');
    await person.check();

    const today = new Date().toISOString().slice(0, 10);
    const tomorrow18 = `${Number(today.slice(0, 4)) - 18}${new Date(Date.now() + 86_400_000).toISOString().slice(4, 10)}`;
    await person.enterDetails('Lovelace', tomorrow18);
    await person.birthError('birthTooYoung');
    await person.enterBirth('1985-12-10');
    await page.getByRole('checkbox').uncheck();
    await person.press('detailsSubmit');
    await person.text('consentMissing').waitFor();
    for (const [link, heading] of [
      ['consentTerms', 'sandboxTerms'],
      ['consentPrivacy', 'sandboxPrivacy'],
    ] as const) {
      const opened = page.context().waitForEvent('page');
      await page.getByRole('link', { name: person.says(link) }).click();
      await (await opened).getByRole('heading', { name: person.says(heading) }).waitFor();
    }
    await person.enterBirth('85-12-10');
    await page.getByRole('checkbox').check();
    await person.press('detailsSubmit');
    await person.birthError('birthYear');
    await person.focused('[name=birth_year]');
    await person.enterBirth('1985-Dezember-10');
    await person.press('detailsSubmit');
    await person.heading('documentsHeading');
    await person.press('documentsBegin');
    await person.text('documentsUnchosen').waitFor();
    await person.focused('[value=passport]');
    await person.check();
  });

  it.each(['en', 'de', 'es'] as const)('a person with only one name is accepted: %s', async (locale) => {
    const { person, page, user } = await pages.open(locale, { at: 'details' });
    const oneName = page.getByRole('switch', { name: person.says('oneName') });
    await person.field('lastNameLabel').fill('invented');
    await oneName.check();
    expect(await person.field('lastNameLabel').count()).toBe(0);
    await person.press('detailsSubmit');
    expect(await person.errorOf('nameLabel')).toBe(person.says('nameMissing'));
    await person.check();
    await person.field('nameLabel').fill('Sukarno');
    await person.enterBirth('1985-12-10');
    await page.getByRole('checkbox').check();
    await person.press('detailsSubmit');
    await person.heading('documentsHeading');
    const { state } = await pages.app.app.get(CommandLoop, { strict: false }).load(onboarding, user.userId);
    expect(state).toMatchObject({ details: { first_name: 'Sukarno', last_name: null } });
  });

  it('the new terms are displayed if the terms changed while the page was open', async () => {
    const { person, page } = await pages.open('es', { at: 'details' });
    Object.assign(pages.app.config, { onboardingTermsVersion: '2027-01' });
    try {
      await person.enterDetails();
      await person.text('consentChanged').waitFor();
      await person.text('consentVersions', { terms: '2027-01', privacy: 'sandbox' }).waitFor();
      expect(await person.field('lastNameLabel').inputValue()).toBe('Lovelace');
      expect(await page.getByRole('checkbox').isChecked()).toBe(false);
      await person.enterDetails();
      await person.heading('documentsHeading');
    } finally {
      Object.assign(pages.app.config, { onboardingTermsVersion: null });
    }
  });

  it('the page opens the callback_url at the end, automatically or by a button', async () => {
    const { page } = await pages.open('de', {
      at: 'submitted',
      query: { callback_url: `${SHOP}/done?order=1&x="'<` },
      origins: [SHOP],
      before: (opened) =>
        opened.route(`${SHOP}/**`, (route) => route.fulfill({ contentType: 'text/html', body: 'welcome' })),
    });
    await page.waitForURL(`${SHOP}/done?**`);
    expect(page.url()).toBe(`${SHOP}/done?order=1&x=%22%27%3C`);

    const app = await pages.open('es', { at: 'submitted', query: { callback_url: 'shopapp://done' } });
    const link = app.page.getByRole('link', { name: app.person.says('doneContinue') });
    expect(await link.getAttribute('href')).toBe('shopapp://done');
  });

  describeFramed(pages);

  it('the reason of a rejected identity is displayed, and the identity check can be tried again', async () => {
    const visit = await pages.open('de', { at: 'submitted', lastName: 'Rejected' });
    const { person, page } = visit;
    await person.heading('failedHeading');
    await person.text('reasonSandboxIdentity').waitFor();
    await person.check('onboarding-11-failed-desktop');
    await page.reload();
    await person.heading('failedHeading');
    await person.press('failedRetry');
    await person.enterDetails('Lovelace');
    await person.showSamples();
    await person.heading('doneHeading');
    expect(await pages.stateOf(visit)).toBe('active');
  });

  it('displays the reason of a refused card, which can be requested again', async () => {
    const visit = await pages.open('es', { at: 'submitted', lastName: 'Cardless' });
    const { person, page } = visit;
    await person.heading('cardFailedHeading');
    await person.text('reasonSandboxCard').waitFor();
    await person.check('onboarding-12-card-failed-desktop');
    await page.reload();
    await person.press('cardFailedRetry');
    await person.heading('doneHeading');
    expect(await pages.stateOf(visit)).toBe('active');
  });

  // The last test, because it stops the service of this suite.
  it('the page returns to a pending review after reloads and a restart, and continues after the approval', async () => {
    const visit = await pages.open('es', { at: 'submitted', lastName: 'Review', options: PHONE });
    const { person, page } = visit;
    await person.heading('reviewHeading');
    await page.getByText(/Enviado el \d+ de \p{L}+ de \d{4}/u).waitFor();
    await person.check('onboarding-10-review-phone');
    await page.reload();
    await person.heading('reviewHeading');
    const port = Number(new URL(page.url()).port);
    await pages.app.stop();
    await person.text('reviewLost').waitFor({ timeout: 60_000 });
    const service = await startService({ ...pages.app.config, widgetPort: port });
    try {
      await eventually(async () => (await person.text('reviewLost').count()) === 0);
      await person.heading('reviewHeading');
      await service.app.get(CommandBus).execute(new DecideReview(visit.user.userId, { decision: 'approve' }));
      await page.getByRole('heading', { name: person.says('doneHeading') }).waitFor({ timeout: 90_000 });
    } finally {
      await service.close();
    }
    // The browser reports errors during the restart.
    visit.problems.length = 0;
  });
});

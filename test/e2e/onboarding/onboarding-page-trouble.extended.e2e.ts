import { randomBytes } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { CLOCK, type Clock } from '../../../src/kernel/clock.js';
import { eventually } from '../../support/eventually.js';
import { canBrowse } from '../../support/http/browser.js';
import { Person } from '../../support/onboarding/onboarding-page.js';
import { onOnboardingPages } from '../../support/onboarding/page-harness.js';
import { describePhotos } from './onboarding-page-photos.tests.js';

const HOUR_MS = 3_600_000;
/** A browser without storage, which is common for frames of other sites. */
const NO_STORAGE = `Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('', 'SecurityError'); } })`;

(canBrowse() ? describe : describe.skip)('the onboarding page under adverse conditions', () => {
  const pages = onOnboardingPages();

  it('a lost connection, an outage, too many requests and a wrong number are explained in plain words', async () => {
    const { person, page, user, problems } = await pages.open('es');
    await page.context().setOffline(true);
    await person.press('phoneSubmit');
    await person.text('troubleOffline').waitFor();
    await page.context().setOffline(false);
    const refusals: readonly [number, Record<string, string>, string][] = [
      [503, {}, person.says('troubleServer')],
      [502, {}, person.says('troubleServer')],
      [429, { 'retry-after': '90' }, person.says('troubleOften', { time: 'dentro de 2 minutos' })],
      [429, {}, person.says('troubleToday')],
    ];
    for (const [status, headers, words] of refusals) {
      const refuse = { status, headers, body: '<h1>Bad gateway</h1>', contentType: 'text/html' };
      await page.route('**/code', (route) => route.fulfill(refuse), { times: 1 });
      await person.press('phoneSubmit');
      await page.getByText(words).waitFor();
    }
    await person.check();
    await person.field('phoneLabel').fill('+1');
    expect(await person.text('phoneMissing').count()).toBe(0);
    await person.field('phoneLabel').fill('555 999-9999');
    await person.text('phoneMissing').waitFor();
    await person.check();
    await person.field('phoneLabel').fill('+1 555 999-9999');
    await person.press('phoneSubmit');
    await person.text('phoneOther').waitFor();
    await person.focused('[name=phone_number]');
    await person.field('phoneLabel').fill(user.phone.replace('+1555', '+1 (555) '));
    await person.enterCode(await person.askForCode());
    await person.heading('detailsHeading');
    problems.length = 0;
  });

  it('the page leads back to the code after the session ends, and retains the typed text', async () => {
    const { person } = await pages.open('de', { at: 'details' });
    const clock = jest.spyOn(pages.app.app.get<Clock>(CLOCK, { strict: false }), 'now');
    try {
      clock.mockImplementation(() => new Date(Date.now() + HOUR_MS));
      await person.enterDetails();
      await person.heading('phoneHeading');
    } finally {
      clock.mockRestore();
    }
    await person.text('sessionEnded').waitFor();
    await person.enterCode(await person.askForCode());
    await person.heading('detailsHeading');
    expect(await person.field('lastNameLabel').inputValue()).toBe('Lovelace');
  });

  it('a double click sends one request, even on a slow network', async () => {
    const { person, page } = await pages.open('es');
    const calls: string[] = [];
    await page.route('**/onboarding/*/*/**', async (route) => {
      if (route.request().method() === 'POST') calls.push(route.request().url().split('/').pop()!);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await route.continue();
    });
    await person.button('phoneSubmit').dblclick();
    await person.heading('codeHeading');
    const code = await person.sandboxCode();
    await person.field('codeLabel').fill(code);
    await person.button('codeSubmit').dblclick();
    await person.enterDetails();
    await person.choose('documentsPassport');
    await person.press('documentsBegin');
    await person.press('captureSample');
    await person.button('captureUse').dblclick();
    await person.heading('selfie');
    expect(calls).toEqual(['code', 'inbox', 'phone', 'details', 'document_front']);
  });

  it('the onboarding page notices progress in another tab', async () => {
    const { person, page, problems } = await pages.open('de', { at: 'documents' });
    await person.choose('documentsPassport');
    const [other] = await Promise.all([
      page.context().waitForEvent('page'),
      // A tab that a page opens begins with that page's storage.
      page.evaluate('void window.open(location.href)'),
    ]);
    const there = new Person({ page: other, problems }, 'de');
    await there.showSamples();
    await there.heading('doneHeading');
    await person.press('documentsBegin');
    await person.press('captureSample');
    await person.press('captureUse');
    await person.heading('doneHeading');
  });

  it('the back button of the browser leads back from the code and from the camera', async () => {
    const { person, page } = await pages.open('es');
    const goBack = async (): Promise<void> => {
      // The page shows the button once it is painted.
      await eventually(() =>
        page.evaluate<boolean>("history.state?.inside === true && document.activeElement.tagName === 'H1'"),
      );
      await page.goBack();
    };
    await person.askForCode();
    await goBack();
    await person.heading('phoneHeading');
    await person.press('phoneSubmit');
    await person.text('codeSentBefore').waitFor();
    await person.enterCode(await person.sandboxCode());
    await person.enterDetails();
    await person.choose('documentsPassport');
    await person.press('documentsBegin');
    await person.heading('documentPassport');
    await goBack();
    await person.heading('documentsHeading');
    await person.press('documentsChange');
    await person.heading('detailsHeading');
    await goBack();
    await person.heading('documentsHeading');
  });

  it('the onboarding page works with the keyboard alone', async () => {
    const { person, page } = await pages.open('en');
    const { keyboard } = page;
    const focused = (): Promise<unknown> =>
      page.evaluate('document.activeElement.name || document.activeElement.innerText.trim()');
    const go = async (...names: string[]): Promise<void> => {
      for (const name of names) {
        await keyboard.press('Tab');
        expect(await focused()).toBe(name);
      }
    };
    /** The focus follows the page once it is painted. */
    const inHeading = async (key: Parameters<typeof person.heading>[0]): Promise<void> => {
      await person.heading(key);
      await eventually(async () => (await focused()) === person.says(key));
    };
    await inHeading('phoneHeading');
    await go('phone_number', person.says('phoneSubmit'));
    await keyboard.press('Enter');
    await inHeading('codeHeading');
    const code = await person.sandboxCode();
    await go('code');
    await keyboard.type(code);
    await keyboard.press('Enter');
    await inHeading('detailsHeading');
    await go('first_name');
    await keyboard.type('Ada');
    await go('last_name');
    await keyboard.type('Lovelace');
    await go('one_name');
    for (const [part, typed] of [
      ['month', '12'],
      ['day', '10'],
      ['year', '1985'],
    ] as const) {
      await go(`birth_${part}`);
      await keyboard.type(typed);
    }
    await person.page.getByRole('checkbox').focus();
    await keyboard.press('Space');
    await keyboard.press('Enter');
    await inHeading('documentsHeading');
    await go('document');
    await keyboard.press('Space');
    await go(person.says('documentsBegin'));
    await keyboard.press('Enter');
    await inHeading('documentPassport');
  });

  describePhotos(pages);

  it('a person can sign up with a long code after a stranger requested all other codes', async () => {
    const { user, enter } = await pages.openFramed('es', { script: NO_STORAGE });
    const person = await enter();
    await person.heading('phoneHeading');
    for (let sent = 0; sent < 6; sent += 1) {
      const body = { browser: randomBytes(16).toString('hex'), phone_number: user.phone };
      expect((await user.step('code', body)).status).toBe(200);
      // The limit of requests advances by 30 seconds.
      await pages.app.database.query(
        `update onboarding.phone_codes set sent_at = sent_at - interval '30 seconds' where user_id = $1`,
        [user.userId],
      );
    }
    await person.press('phoneSubmit');
    await person.heading('codeHeading');
    await person.text('codeUseLong').waitFor();
    await person.text('codeLeadLong', { phone: user.phone }).waitFor();
    await person.check();
    const code = await person.sandboxCode();
    expect(code).toMatch(/^\d{3}( \d{3}){5}$/);
    await person.enterCode('123 456 78');
    expect(await person.errorOf('codeLabel')).toBe(person.says('codeMissingLong'));
    await person.enterCode(code);
    await person.heading('detailsHeading');
  });
});

import { CommandBus } from '@nestjs/cqrs';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { CLOCK, type Clock } from '../../../src/kernel/clock.js';
import {
  ReinstateMerchant,
  SuspendMerchant,
} from '../../../src/contexts/access/application/merchant-commands.js';
import { findChromium } from '../../support/http/browser.js';
import { eventually } from '../../support/eventually.js';
import { Person } from '../../support/onboarding/onboarding-page.js';
import { PageHarness } from '../../support/onboarding/page-harness.js';
import { onboardingUrl } from '../../support/onboarding/widget-visitor.js';

const suite = findChromium() === null ? describe.skip : describe;
const HOUR_MS = 3_600_000;

suite('what goes wrong on the onboarding page', () => {
  let harness: PageHarness;
  beforeAll(async () => {
    harness = await PageHarness.start();
  });
  afterAll(() => harness?.close());
  afterEach(() => harness.leave());

  it('is explained in plain words: offline, unavailable, too often, another number', async () => {
    const { person, page, user, problems } = await harness.open('es');
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
    await person.picture();
    await person.field('phoneLabel').fill('+1 555 999-9999');
    await person.press('phoneSubmit');
    await person.text('phoneOther').waitFor();
    await eventually(() => page.evaluate<boolean>("document.activeElement.name === 'phone_number'"));
    await person.field('phoneLabel').fill(user.phone.replace('+1555', '+1 (555) '));
    await person.enterCode(await person.askForCode());
    await person.heading('detailsHeading');
    problems.length = 0;
  });

  it('a session that has ended leads back to the code, and what was typed is still there', async () => {
    const { person } = await harness.open('de');
    await person.confirmPhone();
    await person.heading('detailsHeading');
    const clock = jest.spyOn(harness.app.app.get<Clock>(CLOCK, { strict: false }), 'now');
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

  it('a suspension of the merchant is displayed', async () => {
    const { person, user } = await harness.open('de');
    await person.confirmPhone();
    await person.heading('detailsHeading');
    const { apiKey } = harness.app.merchant.credentials;
    const bus = harness.app.app.get(CommandBus);
    await bus.execute(new SuspendMerchant(apiKey));
    try {
      await eventually(async () => (await fetch(onboardingUrl(harness.app, user))).status === 403);
      await person.enterDetails();
      await person.heading('refusedSuspended');
    } finally {
      await bus.execute(new ReinstateMerchant(apiKey));
      await eventually(async () => (await fetch(onboardingUrl(harness.app, user))).status === 200);
    }
  });

  it('two presses are one call, on a slow network too', async () => {
    const { person, page } = await harness.open('es');
    const calls: string[] = [];
    await page.route('**/onboarding/*/*/**', async (route) => {
      if (route.request().method() === 'POST') calls.push(route.request().url().split('/').pop()!);
      await new Promise((resolve) => setTimeout(resolve, 300));
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

  it('progress in another tab is noticed', async () => {
    const { person, page } = await harness.open('de');
    await person.confirmPhone();
    await person.enterDetails();
    await person.choose('documentsPassport');
    const [other] = await Promise.all([
      page.context().waitForEvent('page'),
      // A tab that a page opens begins with what that page keeps.
      page.evaluate('void window.open(location.href)'),
    ]);
    const there = new Person(other, 'de');
    await there.showSamples();
    await there.heading('doneHeading');
    await person.press('documentsBegin');
    await person.press('captureSample');
    await person.press('captureUse');
    await person.heading('doneHeading');
  });

  it('the back button closes the camera and the code, and leaves nothing', async () => {
    const { person, page } = await harness.open('es');
    const goBack = async (): Promise<void> => {
      // The page takes the button over once it is painted.
      await eventually(() =>
        page.evaluate<boolean>("history.state?.inside === true && document.activeElement.tagName === 'H1'"),
      );
      await page.goBack();
    };
    await person.askForCode();
    await goBack();
    await person.heading('phoneHeading');
    const code = await (async () => {
      await person.press('phoneSubmit');
      await person.text('codeSentBefore').waitFor();
      return person.sandboxCode();
    })();
    await person.enterCode(code);
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

  it('a browser without storage continues, and a reload needs a new code', async () => {
    const script = `Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('', 'SecurityError'); } })`;
    const { person, page, user } = await harness.open('de', {
      before: (opened) => opened.addInitScript(script),
    });
    await person.confirmPhone();
    await person.enterDetails();
    await person.heading('documentsHeading');
    await page.goto(onboardingUrl(harness.app, user));
    await person.confirmPhone();
    await person.heading('documentsHeading');
  });

  it('the keyboard is enough', async () => {
    const { person, page } = await harness.open('en');
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
});

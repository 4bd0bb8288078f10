import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locale } from '../../../src/contexts/onboarding/words/words.js';
import { findChromium, type WatchedPage } from '../../support/http/browser.js';
import { Person } from '../../support/onboarding/onboarding-page.js';
import { serveSite, shopHtml, type OtherSite } from '../../support/onboarding/other-site.js';
import { PageHarness } from '../../support/onboarding/page-harness.js';
import {
  createUser,
  onboardingUrl,
  widgetUrl,
  type NewUser,
} from '../../support/onboarding/widget-visitor.js';

const suite = findChromium() === null ? describe.skip : describe;
/** A browser that keeps nothing for frames of other sites. */
const NO_STORAGE = `Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('', 'SecurityError'); } })`;

suite('a person whose link a stranger uses', () => {
  let harness: PageHarness;
  const sites: OtherSite[] = [];
  const visits: WatchedPage[] = [];
  beforeAll(async () => {
    harness = await PageHarness.start({ RATE_LIMIT_PER_MINUTE: '10000' });
  });
  afterAll(() => harness?.close());
  afterEach(async () => {
    for (const site of sites.splice(0)) site.close();
    await Promise.all(visits.splice(0).map(({ page }) => page.context().close()));
    await harness.leave();
  });

  const step = async (user: NewUser, name: string, body: object): Promise<Response> =>
    fetch(
      `${widgetUrl(harness.app)}/onboarding/${harness.app.merchant.credentials.apiKey}/${user.id}/${name}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ phone_number: user.phone, browser: randomBytes(16).toString('hex'), ...body }),
      },
    );
  /** Requests `codes` codes, as if 30 seconds passed after each, and guesses five of each. */
  const attack = async (user: NewUser, codes: number): Promise<void> => {
    for (let sent = 0; sent < codes; sent += 1) {
      const browser = randomBytes(16).toString('hex');
      expect((await step(user, 'code', { browser })).status).toBe(200);
      for (let guess = 0; guess < 5; guess += 1)
        expect((await step(user, 'phone', { browser, code: '12345' })).status).toBe(422);
      await harness.app.database.query(
        `update onboarding.phone_codes set sent_at = sent_at - interval '30 seconds' where user_id = $1`,
        [user.id],
      );
    }
  };
  /** The page of a new user in the frame of a shop, in a browser that keeps nothing. */
  const framed = async (locale: Locale): Promise<{ person: Person; user: NewUser }> => {
    const user = await createUser(harness.app.merchant);
    const site = await serveSite(() => shopHtml(onboardingUrl(harness.app, user)));
    sites.push(site);
    const visit = await harness.browser.visit([widgetUrl(harness.app), site.origin], {
      locale,
      viewport: { width: 480, height: 760 },
    });
    visits.push(visit);
    await visit.page.addInitScript(NO_STORAGE);
    await visit.page.goto(site.origin);
    await visit.page.frameLocator('iframe').getByRole('heading').first().waitFor();
    const frame = visit.page.frames().find((each) => each.url().startsWith(widgetUrl(harness.app)))!;
    return { person: new Person(frame, locale), user };
  };

  it.each([
    ['en', 'in a tab'],
    ['es', 'in a frame'],
    ['de', 'in a frame'],
  ] as const)(
    'signs up with the long code after a stranger requested all others: %s, %s',
    async (locale, where) => {
      const { person, user } = where === 'in a tab' ? await harness.open(locale) : await framed(locale);
      await person.heading('phoneHeading');
      await attack(user, 6);
      await person.press('phoneSubmit');
      await person.heading('codeHeading');
      await person.text('codeUseLong').waitFor();
      await person.text('codeLeadLong', { phone: user.phone }).waitFor();
      await person.picture(locale === 'en' && where === 'in a tab' ? 'onboarding-2-code-long-desktop' : null);
      const code = await person.sandboxCode();
      expect(code).toMatch(/^\d{3}( \d{3}){5}$/);
      await person.enterCode('123 456 78');
      expect(await person.errorOf('codeLabel')).toBe(person.says('codeMissingLong'));
      await person.enterCode(code.replace(/^./, (digit) => (digit === '1' ? '2' : '1')));
      await person.text('codeWrong').waitFor();
      await person.enterCode(code);
      await person.heading('detailsHeading');
    },
  );

  it.each(['in a tab', 'in a frame'])(
    'uses the code that the page requested, after a stranger requests and guesses others: %s',
    async (where) => {
      const { person, user } = where === 'in a tab' ? await harness.open('en') : await framed('en');
      await person.heading('phoneHeading');
      const code = await person.askForCode();
      await harness.app.database.query(
        `update onboarding.phone_codes set sent_at = sent_at - interval '30 seconds' where user_id = $1`,
        [user.id],
      );
      await attack(user, 2);
      const theirs = (await (await step(user, 'inbox', {})).json()) as { code: string };
      if (theirs.code !== code) {
        await person.enterCode(theirs.code);
        await person.text('codeWrongLeft', { left: 4 }).waitFor();
      }
      await person.enterCode(code);
      await person.heading('detailsHeading');
    },
  );
});

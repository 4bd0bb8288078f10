import { CommandBus } from '@nestjs/cqrs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Frame, Page } from 'playwright-core';
import { SetEmbedding } from '../../../src/contexts/access/application/merchant-commands.js';
import type { Embedding } from '../../../src/contexts/access/domain/merchant.js';
import { findChromium, type WatchedPage } from '../../support/http/browser.js';
import { eventually } from '../../support/eventually.js';
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
const SHOP = 'https://shop.example';

suite('the onboarding page of a shop', () => {
  let harness: PageHarness;
  const sites: OtherSite[] = [];
  const visits: WatchedPage[] = [];
  beforeAll(async () => {
    harness = await PageHarness.start();
  });
  afterAll(() => harness?.close());
  afterEach(async () => {
    for (const site of sites.splice(0)) site.close();
    const ended = visits.splice(0);
    await Promise.all(ended.map(({ page }) => page.context().close()));
    expect(ended.map(({ problems }) => problems)).toEqual(ended.map(() => []));
    await harness.leave();
  });

  const embed = async (change: Partial<Embedding>): Promise<void> => {
    await harness.app.app
      .get(CommandBus)
      .execute(new SetEmbedding(harness.app.merchant.credentials.apiKey, change));
  };
  const framersOf = async (user: NewUser): Promise<string | undefined> => {
    const { headers } = await fetch(onboardingUrl(harness.app, user), { method: 'HEAD' });
    return /frame-ancestors (.*)$/.exec(headers.get('content-security-policy') ?? '')?.[1];
  };
  /** A shop with the page of a new user in a frame. */
  const shop = async (allow?: string, query: Record<string, string> = {}) => {
    const user = await createUser(harness.app.merchant);
    const address = onboardingUrl(harness.app, user, query);
    const site = await serveSite(() => shopHtml(address, allow));
    sites.push(site);
    return { user, site, address };
  };
  const visitShop = async (site: OtherSite): Promise<{ visit: WatchedPage; page: Page }> => {
    const visit = await harness.browser.visit([widgetUrl(harness.app), site.origin], {
      locale: 'es',
      permissions: ['camera'],
      viewport: { width: 480, height: 760 },
    });
    visits.push(visit);
    await visit.page.goto(site.origin);
    return { visit, page: visit.page };
  };
  const frameIn = async (page: Page): Promise<Frame> => {
    await page.frameLocator('iframe').getByRole('heading').first().waitFor();
    return page.frames().find((frame) => frame.url().startsWith(widgetUrl(harness.app)))!;
  };
  const messagesTo = (page: Page) => page.evaluate<{ origin: string; data: object }[]>('heard');

  it('is notified of each step, and the frame does not navigate', async () => {
    const { user, site, address } = await shop(undefined, { callback_url: `${SHOP}/done` });
    await embed({ origins: [site.origin, 'https://other.example'] });
    await eventually(async () => (await framersOf(user))?.includes(site.origin));
    const { page } = await visitShop(site);
    const frame = await frameIn(page);
    const person = new Person(frame, 'es');
    await person.confirmPhone();
    await person.enterDetails();
    await person.showPassport();
    await person.heading('doneHeading');
    await person.text('doneEmbedded').waitFor();
    await person.picture('onboarding-13-done-framed');
    expect(await frame.getByRole('link').count()).toBe(0);
    const messages = await messagesTo(page);
    expect(new Set(messages.map(({ origin }) => origin))).toEqual(new Set([widgetUrl(harness.app)]));
    const message = { type: 'disburse.onboarding', version: 1, user_id: user.id };
    const steps = messages.map(({ data }) => (data as { step: string }).step);
    // How long it is under review, and set up, is for the providers to say: it may be too short to be seen.
    const certain = ['phone', 'code', 'details', 'documents', 'review', 'setup', 'done'];
    expect(certain.filter((step) => steps.includes(step))).toEqual(steps);
    expect(steps).toEqual(expect.arrayContaining(['phone', 'code', 'details', 'documents', 'done']));
    expect(messages.map(({ data }) => data)).toEqual(steps.map((step) => ({ ...message, step })));
    // Longer than a page in a tab takes to open its callback_url.
    await page.waitForTimeout(3500);
    expect([page.url(), frame.url()]).toEqual([`${site.origin}/`, address]);
    await embed({ origins: [] });
    await eventually(async () => (await framersOf(user)) === undefined);
  });

  it('cannot use the camera where the frame does not let it, and takes files', async () => {
    const { site } = await shop('');
    const { page } = await visitShop(site);
    const person = new Person(await frameIn(page), 'es');
    await person.confirmPhone();
    await person.enterDetails();
    await person.choose('documentsPassport');
    await person.press('documentsBegin');
    await person.text('cameraNotDelegated').waitFor();
    expect(await person.button('captureCameraAgain').count()).toBe(0);
    await person.button('captureUploadOnly').waitFor();
  });

  it('is displayed by no site outside its list, and sends it no messages', async () => {
    const { user, site } = await shop();
    await embed({ origins: [SHOP] });
    await eventually(async () => (await framersOf(user)) === SHOP);
    const { page, visit } = await visitShop(site);
    await eventually(() => visit.problems.some((problem) => problem.includes(`frame-ancestors ${SHOP}`)));
    expect(await page.frameLocator('iframe').getByRole('heading').count()).toBe(0);
    expect(await messagesTo(page)).toEqual([]);
    visit.problems.length = 0;
    await embed({ origins: [] });
    await eventually(async () => (await framersOf(user)) === undefined);
  });

  it('opens the callback_url at the end, automatically or by a button', async () => {
    const callback_url = `${SHOP}/done?order=1&x="'<`;
    const { person, page } = await harness.open('de', {
      query: { callback_url },
      origins: [SHOP],
      before: (opened) =>
        opened.route(`${SHOP}/**`, (route) => route.fulfill({ contentType: 'text/html', body: 'welcome' })),
    });
    await person.confirmPhone();
    await person.enterDetails();
    await person.showSamples();
    await page.waitForURL(`${SHOP}/done?**`);
    expect(page.url()).toBe(`${SHOP}/done?order=1&x=%22%27%3C`);

    const app = await harness.open('es', { query: { callback_url: 'shopapp://done' } });
    await app.person.confirmPhone();
    await app.person.enterDetails();
    await app.person.showSamples();
    const link = app.page.getByRole('link', { name: app.person.says('doneContinue') });
    expect(await link.getAttribute('href')).toBe('shopapp://done');
  });

  it('runs nothing that is not its own', async () => {
    const visit = await harness.open('en');
    await visit.page.evaluate(`{
      const script = document.createElement('script');
      script.textContent = 'window.ran = true';
      document.body.append(script);
    }`);
    expect(await visit.page.evaluate('window.ran === undefined')).toBe(true);
    expect(visit.problems).toEqual([expect.stringContaining('Content Security Policy')]);
    visit.problems.length = 0;
  });
});

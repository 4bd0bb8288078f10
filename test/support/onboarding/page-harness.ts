import { expect } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Locale } from '../../../src/contexts/onboarding/words/words.js';
import { startTestApp, type TestApp, type TestSettings } from '../app.js';
import { findChromium, TestBrowser } from '../http/browser.js';
import { expectInOrder } from '../in-order.js';
import { Person } from './onboarding-page.js';
import { createUser, onboardingUrl, widgetUrl, type NewUser } from './widget-visitor.js';

/** Somebody who opened the onboarding page in a tab of their own. */
export interface Visit {
  readonly page: Page;
  readonly person: Person;
  readonly user: NewUser;
  /** What went wrong on the page. A test that provokes something empties it. */
  readonly problems: string[];
}

interface VisitOptions {
  readonly options?: BrowserContextOptions;
  readonly query?: Readonly<Record<string, string>>;
  /** Origins that the page may ask for things, besides its own. */
  readonly origins?: readonly string[];
  /** Runs before the page is opened. */
  readonly before?: (page: Page, user: NewUser) => Promise<unknown>;
}

/** The service and a browser with a camera. At its end each visit may have logged no problems. */
export class PageHarness {
  private readonly visits: Visit[] = [];

  private constructor(
    readonly app: TestApp,
    readonly browser: TestBrowser,
  ) {}

  static async start(settings: TestSettings = {}): Promise<PageHarness> {
    const [app, browser] = await Promise.all([
      startTestApp(settings),
      // A camera of 20 pictures a second would cost more than the rest of the page.
      TestBrowser.start(findChromium()!, ['--use-fake-device-for-media-stream=fps=5']),
    ]);
    return new PageHarness(app, browser);
  }

  /** A new user at the first step; the camera may be used unless `options` say otherwise. */
  async open(locale: Locale, { options, query, origins = [], before }: VisitOptions = {}): Promise<Visit> {
    const user = await createUser(this.app.merchant);
    const watched = await this.browser.visit([widgetUrl(this.app), ...origins], {
      permissions: ['camera'],
      ...options,
      locale,
    });
    const visit = { ...watched, user, person: new Person(watched.page, locale) };
    this.visits.push(visit);
    await before?.(visit.page, user);
    await visit.page.goto(onboardingUrl(this.app, user, query));
    await visit.person.heading('phoneHeading');
    return visit;
  }

  async stateOf({ user }: Visit): Promise<string> {
    const response = await this.app.merchant.get(`/merchants/v1/users/${user.id}`);
    return response.json<{ user: { account_state: string } }>().user.account_state;
  }

  /** After each test. */
  async leave(): Promise<void> {
    const visits = this.visits.splice(0);
    await Promise.all(visits.map(({ page }) => page.context().close()));
    expect(visits.map(({ problems }) => problems)).toEqual(visits.map(() => []));
  }

  async close(): Promise<void> {
    try {
      await expectInOrder(this.app.config.databaseUrl!);
    } finally {
      await Promise.all([this.app.close(), this.browser.close()]);
    }
  }
}

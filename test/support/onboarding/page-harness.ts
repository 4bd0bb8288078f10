import { equal } from 'node:assert/strict';
import { afterAll } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Frame, Page } from 'playwright-core';
import type { Locale } from '../../../src/contexts/onboarding/words/messages.js';
import { onTestApp, type TestApp } from '../app.js';
import { onTestBrowser, type TestBrowser, type WatchedPage } from '../http/browser.js';
import { expectAuditPasses } from '../audit-passes.js';
import { randomPhone } from '../payouts/payout-calls.js';
import { Person } from './onboarding-page.js';
import { pageUrl } from './people.js';
import { DETAILS, visitorAt, type Visitor } from './widget-harness.js';

export interface NewUser extends Visitor {
  readonly email: string;
}

/** A person who opened the onboarding page in a separate tab. */
export interface Visit extends WatchedPage {
  readonly person: Person;
  readonly user: NewUser;
}

type Stage = 'phone' | 'details' | 'documents' | 'submitted';

interface VisitOptions {
  readonly options?: BrowserContextOptions;
  readonly query?: Readonly<Record<string, string>>;
  /** Origins of requests besides the page's own. */
  readonly origins?: readonly string[];
  /** The stage at which this tab opens. Earlier steps are done without the page. */
  readonly at?: Stage;
  readonly lastName?: string;
  /** Runs before the page is opened. */
  readonly before?: (page: Page, user: NewUser) => Promise<unknown>;
}

/** The onboarding pages of a service, in a browser with a camera. */
export class OnboardingPages {
  private readonly sites: Server[] = [];

  constructor(
    readonly app: TestApp,
    readonly browser: TestBrowser,
  ) {}

  get url(): string {
    return pageUrl(this.app.app);
  }

  async createUser(): Promise<NewUser> {
    const phone = randomPhone();
    const email = `ada.${phone.slice(1)}@example.com`;
    const response = await this.app.merchant.post('/merchants/v1/users', { phone_number: phone, email });
    equal(response.status, 201);
    const { id } = response.json().user;
    return { ...visitorAt(this.url, this.app.merchant.credentials.apiKey, id, phone), email };
  }

  addressOf({ userId }: NewUser, query: Readonly<Record<string, string>> = {}): string {
    const ids = { merchant_id: this.app.merchant.credentials.apiKey, user_id: userId };
    return `${this.url}/onboarding?${new URLSearchParams({ ...ids, ...query }).toString()}`;
  }

  /** Creates a user at the first step, or a later one. The camera is permitted unless `options` forbid it. */
  async open(locale: Locale, given: VisitOptions = {}): Promise<Visit> {
    const { options, query, origins = [], at = 'phone', lastName, before } = given;
    const user = await this.createUser();
    const watched = await this.browser.visit([this.url, ...origins], {
      permissions: ['camera'],
      ...options,
      locale,
    });
    const visit = { ...watched, user, person: new Person(watched, locale) };
    await begin(visit, at, lastName);
    await before?.(visit.page, user);
    await visit.page.goto(this.addressOf(user, query));
    if (at !== 'submitted') await visit.person.heading(`${at}Heading`);
    return visit;
  }

  /** Opens the page of a new user in a frame of a shop, which records its messages. */
  async openFramed(locale: Locale, { allow, query, script }: FrameOptions = {}) {
    const user = await this.createUser();
    const address = this.addressOf(user, query);
    const origin = await this.serve(shopHtml(address, allow));
    const visit = await this.browser.visit([this.url, origin], {
      locale,
      permissions: ['camera'],
      viewport: { width: 480, height: 760 },
    });
    if (script !== undefined) await visit.page.addInitScript(script);
    const enter = async (): Promise<Person<Frame>> => {
      await visit.page.goto(origin);
      await visit.page.frameLocator('iframe').getByRole('heading').first().waitFor();
      const frame = visit.page.frames().find((each) => each.url().startsWith(this.url))!;
      return new Person({ page: frame, problems: visit.problems }, locale);
    };
    return { ...visit, user, address, origin, enter };
  }

  async stateOf({ user }: Pick<Visit, 'user'>): Promise<string> {
    const response = await this.app.merchant.get(`/merchants/v1/users/${user.userId}`);
    return response.json().user.account_state;
  }

  close(): void {
    for (const site of this.sites) site.close();
  }

  /** Serves one page. `localhost` and `127.0.0.1` are different sites for a browser. */
  private async serve(html: string): Promise<string> {
    const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html));
    this.sites.push(site);
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    return `http://localhost:${(site.address() as AddressInfo).port}`;
  }
}

/** Completes the steps before `at`, and opens the tab there. */
async function begin(
  { page, user }: Pick<Visit, 'page' | 'user'>,
  at: Stage,
  lastName = 'Lovelace',
): Promise<void> {
  if (at === 'phone') return;
  const session = await user.signIn();
  if (at !== 'details')
    equal((await user.step('details', { ...DETAILS, last_name: lastName }, session)).status, 200);
  if (at === 'submitted') equal((await user.handIn(session)).status, 200);
  const place = { session: session.authorization.replace('Bearer ', ''), browser: user.browser };
  const item = [`onboarding ${user.userId}`, JSON.stringify(place)].map((each) => JSON.stringify(each));
  await page.addInitScript(
    `if (!sessionStorage.getItem(${item[0]})) sessionStorage.setItem(${item.join(', ')})`,
  );
}

interface FrameOptions {
  readonly allow?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Runs before the scripts of the page. */
  readonly script?: string;
}

function shopHtml(address: string, allow = 'camera; microphone'): string {
  return `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>Shop</title><link rel="icon" href="data:,">
<script>heard = []; addEventListener('message', ({ origin, data }) => heard.push({ origin, data }));</script>
<body style="margin:0"><iframe src="${address.replaceAll('&', '&amp;')}" allow="${allow}" style="border:0;width:100%;height:100vh"></iframe></html>`;
}

/** Pages for the tests of a `describe`. At its end the audit finds no fault. */
export function onOnboardingPages(): OnboardingPages {
  let app: TestApp | null = null;
  afterAll(() => expectAuditPasses(app!.config.databaseUrl!));
  app = onTestApp();
  const pages = new OnboardingPages(app, onTestBrowser());
  afterAll(() => pages.close());
  return pages;
}

import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import type { TestBrowser } from '../http/browser.js';
import { PageUser, STILL } from './page-user.js';
import type { Operator } from '../access/console-site.js';
import type { PagesService } from './pages-service.js';

export const HOME = 'What needs attention';

/** Opens the console in a browser without a session. */
export async function visitConsole(
  browser: TestBrowser,
  { consoleUrl }: PagesService,
  options: BrowserContextOptions & { readonly origins?: readonly string[] } = {},
): Promise<PageUser> {
  const { origins = [], ...rest } = options;
  const visit = await browser.visit([consoleUrl, ...origins], { ...STILL, ...rest });
  return new PageUser(visit, consoleUrl);
}

/** Decisions need a login within 5 minutes, so that older sessions are not reused. */
const REUSED_MS = 120_000;

/** Sessions of one service, by person. */
const sessions = new WeakMap<PagesService, Map<string, { readonly state: State; readonly at: number }>>();

type State = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Signs a person in by a one-time link, or with the session of an earlier test, and opens the first page. */
export async function signIn(
  browser: TestBrowser,
  service: PagesService,
  operator: Operator,
): Promise<PageUser> {
  const former = sessions.get(service)?.get(operator.id);
  if (former === undefined || performance.now() - former.at > REUSED_MS)
    return shared(service, operator, await signInFresh(browser, service, operator));
  const user = await visitConsole(browser, service, { storageState: former.state });
  await user.open('/', HOME);
  return user;
}

/** Signs a person in with a new session, for tests that end it. */
export async function signInFresh(
  browser: TestBrowser,
  service: PagesService,
  operator: Operator,
): Promise<PageUser> {
  const user = await visitConsole(browser, service);
  await user.open(await service.link(operator.id), 'Create your passkey');
  await user.press('Sign in without a passkey');
  await user.heading(HOME);
  return user;
}

async function shared(service: PagesService, { id }: Operator, user: PageUser): Promise<PageUser> {
  const state = await user.page.context().storageState();
  const known = sessions.get(service) ?? new Map<string, { state: State; at: number }>();
  sessions.set(service, known.set(id, { state, at: performance.now() }));
  return user;
}

import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import type { TestBrowser } from '../http/browser.js';
import { PageUser, STILL } from './page-user.js';
import type { Operator } from '../access/console-site.js';
import type { PagesService } from './pages-service.js';

export const HOME = 'What needs attention';

/** A browser at the console, without a session. */
export async function visitConsole(
  browser: TestBrowser,
  { consoleUrl }: PagesService,
  options: BrowserContextOptions & { readonly origins?: readonly string[] } = {},
): Promise<PageUser> {
  const { origins = [], ...rest } = options;
  const visit = await browser.visit([consoleUrl, ...origins], { ...STILL, ...rest });
  return new PageUser(visit, consoleUrl);
}

/** A decision needs a login within 5 minutes. */
const REUSED_MS = 120_000;

/** Sessions of one service, by their person. */
const sessions = new WeakMap<PagesService, Map<string, { readonly state: State; readonly at: number }>>();

/** The cookies of a browser. */
type State = Awaited<ReturnType<BrowserContext['storageState']>>;

/**
 * A person at the first page, signed in as in the sandbox: by a one-time link, or with the session of an earlier test.
 */
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

/** A person with a session of their own, for tests that end it. */
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

import type { BrowserContextOptions } from 'playwright-core';
import type { TestBrowser } from '../http/browser.js';
import { PageUser, STILL } from './page-user.js';
import type { Operator, PagesService } from './pages-service.js';

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

/** A person who signed in as in the sandbox: by a one-time link, without a passkey. */
export async function signIn(
  browser: TestBrowser,
  service: PagesService,
  operator: Operator,
  options: BrowserContextOptions = {},
): Promise<PageUser> {
  const user = await visitConsole(browser, service, options);
  await user.open(await service.linkOf(operator), 'Create your passkey');
  await user.press('Sign in without a passkey');
  await user.heading(HOME);
  return user;
}

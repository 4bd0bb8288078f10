import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { canBrowse, onTestBrowser } from '../../support/http/browser.js';
import { addVirtualAuthenticator } from '../../support/http/virtual-authenticator.js';
import { HOME, visitConsole } from '../../support/pages/console-page.js';
import type { PageUser } from '../../support/pages/page-user.js';
import { PagesService } from '../../support/pages/pages-service.js';

/** Without an identity provider: with one, passkeys do not sign in (admin-api.md 5). */
(canBrowse() ? describe : describe.skip)('signing in without an identity provider', () => {
  const browser = onTestBrowser();
  let service: PagesService;
  beforeAll(async () => {
    service = await PagesService.start();
  });
  afterAll(() => service?.close());
  const visit = (): Promise<PageUser> => visitConsole(browser, service);

  const signOut = async (user: PageUser, name: string): Promise<void> => {
    await user.press(`Account of ${name}`);
    await user.press('Sign out');
    await user.heading('Sign in');
  };

  it('by a passkey that the person creates by a one-time link', async () => {
    const operator = await service.newOperator('Katherine Operator');
    const user = await visit();
    await addVirtualAuthenticator(user.page);
    await user.open(await service.linkOf(operator), 'Create your passkey');
    await user.press('Create passkey');
    await user.heading(HOME);
    await signOut(user, 'Katherine Operator');
    await user.press('Sign in with a passkey');
    await user.heading(HOME);
    await user.expectFine();
  });

  it('says what to do when the passkey is not used', async () => {
    const user = await visit();
    await user.open('/login', 'Sign in');
    // Without a passkey for this site the browser refuses.
    await user.page.evaluate(
      'navigator.credentials.get = async () => { throw new DOMException("", "NotAllowedError"); }',
    );
    await user.press('Sign in with a passkey');
    await user.text(/The passkey was not used/).waitFor();
  });
});

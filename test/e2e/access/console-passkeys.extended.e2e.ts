import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canBrowse, onTestBrowser } from '../../support/http/browser.js';
import { HOME, visitConsole } from '../../support/pages/console-page.js';
import type { PageUser } from '../../support/pages/page-user.js';
import { PagesService } from '../../support/pages/pages-service.js';

/** A device that creates passkeys and confirms each use, with user verification. */
const AUTHENTICATOR = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

/** No identity provider is set, because passkeys do not sign in with one (admin-api.md 5). */
(canBrowse() ? describe : describe.skip)('passkeys', () => {
  const browser = onTestBrowser();
  let service: PagesService;
  beforeAll(async () => {
    service = await PagesService.start();
  });
  afterAll(() => service?.close());

  /** Opens the link in a browser with a virtual authenticator. */
  async function visit(link: string): Promise<PageUser> {
    const user = await visitConsole(browser, service);
    const devtools = await user.page.context().newCDPSession(user.page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', { options: AUTHENTICATOR });
    await user.open(link, 'Create your passkey');
    return user;
  }
  async function signOut(user: PageUser): Promise<void> {
    await user.press('Account of Katherine Operator');
    await user.press('Sign out');
    await user.heading('Sign in');
  }

  it('an operator enrols a passkey by a one-time link, signs out and signs in with the passkey', async () => {
    const { id } = await service.newOperator('Katherine Operator');
    const user = await visit(await service.link(id));
    await user.press('Create passkey');
    await user.heading(HOME);
    await signOut(user);
    const sending = user.page.waitForRequest(/\/login\/passkey$/);
    await user.press('Sign in with a passkey');
    await user.heading(HOME);
    await user.expectFine();
    const recorded = await service.app.database.query<{ data: object }>(
      `select data::json as data from event_store.events
       where type = 'operation.requested.v1' and data::json->>'name' = 'operators.add_passkey'`,
    );
    expect(recorded).toEqual([
      {
        data: expect.objectContaining({
          subject: expect.objectContaining({ id }),
          reason: 'enrolled with a one-time link',
          requested_by: expect.objectContaining({ operator_id: id, address: expect.any(String) }),
        }),
      },
    ]);
    // A captured request works once.
    const sent = JSON.stringify((await sending).postData());
    const again = await user.page.evaluate<number>(`fetch('/login/passkey', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: ${sent} }).then(({ status }) => status)`);
    expect(again).toBe(400);
  });

  it('a one-time link enrols one passkey, and a visit alone does not consume the link', async () => {
    const link = await service.link((await service.newOperator('Katherine Operator')).id);
    const [left, user, late] = [await visit(link), await visit(link), await visit(link)];
    expect(await left.alert().count()).toBe(0);
    await user.press('Create passkey');
    await user.heading(HOME);
    await late.press('Create passkey');
    await late.alert().waitFor();
  });

  it('the passkey of a disabled operator is refused', async () => {
    const operator = await service.newOperator('Katherine Operator');
    const user = await visit(await service.link(operator.id));
    await user.press('Create passkey');
    await user.heading(HOME);
    await signOut(user);
    await service.disable(operator);
    await user.press('Sign in with a passkey');
    await user.alert().waitFor();
  });

  it('the page says that the passkey was not used if the browser refuses the sign-in', async () => {
    const user = await visitConsole(browser, service);
    await user.open('/login', 'Sign in');
    // The browser refuses without a passkey of this site.
    await user.page.evaluate(
      'navigator.credentials.get = async () => { throw new DOMException("", "NotAllowedError"); }',
    );
    await user.press('Sign in with a passkey');
    await user.text(/The passkey was not used/).waitFor();
  });
});

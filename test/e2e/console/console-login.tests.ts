import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { HOME, visitConsole } from '../../support/pages/console-page.js';
import type { ConsoleWorld } from '../../support/pages/console-world.js';
import type { PageUser } from '../../support/pages/page-user.js';

export function describeLogin(world: ConsoleWorld): void {
  describe('signing in', () => {
    const visit = (origins: readonly string[] = []): Promise<PageUser> =>
      visitConsole(world.browser, world.service, { origins });

    const signOut = async (user: PageUser, name: string): Promise<void> => {
      await user.press(`Account of ${name}`);
      await user.press('Sign out');
      await user.heading('Sign in');
    };

    it('by the link of the sandbox, without a passkey, and out again', async () => {
      const link = await world.service.link(world.ada.id);
      const user = await visit();
      await user.open(link, 'Create your passkey');
      // The token is in neither the address nor the history.
      expect(user.path).toBe('/enrol');
      await user.check();
      await user.press('Sign in without a passkey');
      await user.heading(HOME);
      await user.expectFine();
      await signOut(user, 'Ada Operator');
      await user.check();
      await user.open('/payouts', 'Sign in');
      const again = await visit();
      await again.open(link, 'Create your passkey');
      await again.press('Sign in without a passkey');
      await again.text(/link/i).waitFor();
      await again.alert().waitFor();
    });

    it('by the identity provider, back to the page where the person was', async () => {
      const { issuer, ada } = world;
      issuer.signInAs({ email: ada.email, email_verified: true });
      const user = await visit([issuer.url]);
      await user.open('/payouts?status=pending', 'Sign in');
      await user.follow('Sign in with your identity provider');
      await user.heading('Payouts');
      expect(user.path).toBe('/payouts?status=pending');
      await user.expectFine();
    });

    it('a session that ends ends the page', async () => {
      const operator = await world.service.newOperator('Mallory Operator', 'viewer');
      const user = await world.signIn(operator);
      await user.page.clock.install();
      await user.open('/payouts', 'Payouts');
      await user.settled();
      const cells = await user.rows().first().textContent();
      await world.service.disable(operator);
      await eventually(async () => {
        const read = user.page.waitForResponse(/\/admin\/v1\/payouts/);
        await user.page.clock.fastForward(15_000);
        return (await read).status() === 401;
      });
      await user.heading('Sign in');
      await user.text('Your session ended').waitFor();
      expect(await user.page.textContent('body')).not.toContain(cells);
    });
  });
}

import { describe, expect, it } from '@jest/globals';
import { HOME } from '../../support/pages/console-page.js';
import type { PortalWorld } from '../../support/pages/portal-world.js';

const DEAD = 'This link does not work any more';

export function describeEntering(world: PortalWorld): void {
  describe('a link from the backend of the merchant', () => {
    it('opens the portal for the person whom the backend names, once', async () => {
      const url = await world.linkFor({ return_url: 'https://backoffice.example/webhooks' });
      const user = await world.visit();
      await user.open(url, HOME);
      // The code is in neither the address nor the history.
      expect(user.path).toBe('/');
      await user.page.goBack();
      expect(user.page.url()).not.toContain('#');
      await user.open('/', HOME);
      await user.button('Account of Ada of the shop').waitFor();
      const back = user.page.locator('.side').getByRole('link', { name: 'Back to backoffice.example' });
      expect(await back.getAttribute('href')).toBe('https://backoffice.example/webhooks');
      await user.expectFine();
      const again = await world.visit();
      await again.open(url, DEAD);
      await again.text('It was used already, has expired or was revoked').waitFor();
      await again.check();
    });

    it('pasted into the address of an open portal begins the other session', async () => {
      const user = await world.enter();
      await user.open(await world.linkFor({ actor: { id: 'u-18', name: 'Bob of the shop' } }), HOME);
      await user.button('Account of Bob of the shop').waitFor();
      await user.expectFine();
    });

    it('of another merchant ends the session only if the person agrees, and works until then', async () => {
      const user = await world.enter();
      const other = await world.linkFor(
        { actor: { id: 'u-1', name: 'Bob elsewhere' } },
        await world.service.app.newMerchant(),
      );
      const question = 'Leave the portal of the other merchant?';
      await user.open(other, question);
      await user.check();
      await user.press('Stay');
      await user.heading(HOME);
      await user.button('Account of Ada of the shop').waitFor();
      await user.open(other, question);
      await user.press('Leave and continue');
      await user.heading(HOME);
      await user.button('Account of Bob elsewhere').waitFor();
    });

    it('leads to what its scopes allow', async () => {
      const user = await world.enter({ scopes: ['deliveries:read'] });
      const labels = await user.page.locator('.side nav').getByRole('link').allTextContents();
      expect(labels).toEqual(['Attention', 'Deliveries', 'Lookups']);
      await user.open('/keys');
      await user.text('The scope keys:read is missing').waitFor();
    });
  });

  describe('a session', () => {
    it('ends with “Sign out”, in this tab and in others', async () => {
      const user = await world.enter({ return_url: 'https://backoffice.example/' });
      const tab = await user.page.context().newPage();
      await tab.goto(`${user.origin}/payouts`);
      await tab.getByRole('heading', { name: 'Payouts' }).waitFor();
      await user.press('Account of Ada of the shop');
      await user.press('Sign out');
      await user.heading('You are signed out');
      await user.page.getByRole('link', { name: 'Back to backoffice.example' }).waitFor();
      await user.check();
      await tab.getByRole('link', { name: 'Orders' }).first().click();
      await tab.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    });
  });
}

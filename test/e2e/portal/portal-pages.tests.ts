import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { keepPicture } from '../../support/http/screen.js';
import { SignedClient } from '../../support/http/signed-client.js';
import { CUSTOMER, type PortalWorld } from '../../support/pages/portal-world.js';
import { HOME } from '../../support/pages/console-page.js';

const LISTS = ['Endpoints', 'Deliveries', 'Requests', 'Keys', 'Payouts', 'Orders'] as const;

export function describePages(world: PortalWorld): void {
  describe('for a reader', () => {
    it.each(LISTS)('displays the list %s and its first row, both accessible at each width', async (label) => {
      const user = await world.enter();
      await user.follow(label, user.page.locator('.side'));
      await user.heading(label);
      await user.expectFine();
      expect(await user.rows().count()).toBeGreaterThan(0);
      await user.check();
      if (label === 'Endpoints') await keepPicture(user.page, 'portal-1-endpoints');
      await user.page.locator('a[data-row]').first().click();
      await user.page.waitForURL(/\/[a-z]+\/[^/]+$/);
      await user.expectFine();
      await user.check();
    });

    it('displays an endpoint with failing attempts as failing', async () => {
      const { id, url } = world.morning.endpoint;
      const user = await world.enter();
      await user.open('/endpoints', 'Endpoints');
      const status = user.rows().filter({ hasText: url }).locator('.status');
      expect([await status.textContent(), await status.getAttribute('class')]).toEqual([
        'failing',
        'status warn',
      ]);
      await user.open(`/endpoints/${id}`, /failing/);
    });

    it('displays a failing endpoint among the items that need attention', async () => {
      const user = await world.enter();
      await user.settled();
      await user.text('1 Endpoints failing').waitFor();
      await user.check();
    });

    it('displays the tracking events of a user by the external id of the user', async () => {
      const user = await world.enter();
      await user.open('/events', 'Events');
      await user.text('Filter first').waitFor();
      await user.check();
      await user.page.getByLabel('External id of the user').fill(CUSTOMER);
      await user.page.keyboard.press('Enter');
      await user.page
        .getByRole('link', { name: 'Checkout completed' })
        .or(user.text('Checkout completed'))
        .first()
        .waitFor();
      expect(await user.rows().count()).toBe(2);
      await user.expectFine();
      await user.check();
    });

    it('displays a payout with its evidence and its proof', async () => {
      const user = await world.enter();
      await user.open(`/payouts/${world.morning.received.id}`, /received/);
      await user.page.locator('dd').getByText('25.50 USDC').waitFor();
      const evidence = user.page.getByRole('region', { name: 'Evidence' });
      await evidence.getByText('SHA-256 of the receipt').waitFor();
      const proof = user.page.getByRole('region', { name: 'Proof in the ledger' });
      await eventually(async () => {
        await user.page.reload();
        await user.settled();
        return (await proof.getByText('Signing key').count()) > 0;
      });
      const saving = user.page.waitForEvent('download');
      await user.press('Save as JSON', proof);
      expect((await saving).suggestedFilename()).toBe(`proof-${world.morning.received.id}.json`);
      await user.check();
    });

    it('displays a refused request with the text that the service expected', async () => {
      const { app } = world.service;
      const { apiKey } = app.merchant.credentials;
      const wrong = new SignedClient(app.url, { apiKey, privateKey: 'another key' });
      const { headers } = await wrong.post('/merchants/v1/users', { phone_number: '+14155550123' });
      const user = await world.enter();
      await eventually(async () => {
        await user.open('/requests?status=401', 'Requests');
        await user.settled();
        return (await user.rows().count()) > 0;
      });
      await keepPicture(user.page, 'portal-3-requests', { width: 360, maxHeight: 900 });
      await user.open(`/requests/${headers['request-id']!}`);
      await user.text('The signature did not match').waitFor();
      await user.text(/sha256:[0-9a-f]{64}/).waitFor();
      await user.check();
    });

    it('displays usage against the limit', async () => {
      const user = await world.enter();
      await user.follow('Usage', user.page.locator('.side'));
      await user.heading('Usage');
      await user.page.getByRole('progressbar', { name: 'Used of the limit' }).waitFor();
      await user.expectFine();
      await user.check();
    });

    it('displays how operators read and changed data of the merchant, with their reasons', async () => {
      const { admin } = world.service;
      const path = `/users/${world.morning.users[2]!.id}`;
      await admin.change(path, '/deactivate', { reason: 'The person requested it by letter' });
      const user = await world.enter();
      await user.follow('Lookups', user.page.locator('.side'));
      await user.heading('Lookups');
      const changed = user.rows().filter({ hasText: 'The person requested it by letter' });
      await changed.getByText('Test operator').waitFor();
      await changed.getByText('changed').waitFor();
      expect(await user.rows().filter({ hasText: 'read' }).count()).toBeGreaterThan(0);
      await user.check();
      await keepPicture(user.page, 'portal-4-lookups');
    });
  });
}

const DEAD = 'This link does not work any more';

export function describeEntering(world: PortalWorld): void {
  describe('opened by a link from the backend of the merchant', () => {
    it('opens once, for the person whom the backend names', async () => {
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

    it('replaces the open session if the link is of the same merchant', async () => {
      const user = await world.enter();
      await user.open(await world.linkFor({ actor: { id: 'u-18', name: 'Bob of the shop' } }), HOME);
      await user.button('Account of Bob of the shop').waitFor();
      await user.expectFine();
    });

    it('replaces the open session of another merchant only if the person confirms', async () => {
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

    it('offers only the pages that the scopes of the session allow', async () => {
      const user = await world.enter({ scopes: ['deliveries:read'] });
      const labels = await user.page.locator('.side nav').getByRole('link').allTextContents();
      expect(labels).toEqual(['Attention', 'Deliveries', 'Lookups']);
      await user.open('/keys');
      await user.text('The scope keys:read is missing').waitFor();
    });
  });

  describe('with a session', () => {
    it('signs out in this tab and in others with “Sign out”', async () => {
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

import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { keepPicture } from '../../support/http/screen.js';
import { SignedClient } from '../../support/http/signed-client.js';
import { missDeliveries } from '../../support/pages/missed-deliveries.js';
import type { PortalWorld } from '../../support/pages/portal-world.js';

export function describeWrites(world: PortalWorld): void {
  const endpoint = (): string => `/endpoints/${world.morning.endpoint.id}`;

  describe('for a person of the merchant', () => {
    it('sends a test to an endpoint, displays the response, and resends the delivery', async () => {
      const { receiver } = world.service;
      const user = await world.enter();
      await user.open(endpoint());
      await user.write('Send test', {});
      await user.text('The test is sent').waitFor();
      await user.follow('Open', user.page.locator('.toasts'));
      await user.heading(/^Delivery/);
      await user.text('webhook_endpoint.test').waitFor();
      // The page updates without a reload.
      await user.heading(/exhausted/);
      await user.text('your receiver responded with 500').waitFor();
      await keepPicture(user.page, 'portal-2-delivery');
      const { behavior } = receiver;
      receiver.respondWith(204);
      await user.write('Resend', {});
      await user.heading(/succeeded/);
      receiver.behavior = behavior;
      await user.expectFine();
    });

    it('enables the endpoint of a dropped delivery, and resends that delivery', async () => {
      const missed = await missDeliveries(world.service);
      const user = await world.enter({}, missed.merchant);
      await user.text('1 Deliveries dropped, last 7 days').waitFor();
      await user.check();
      for (const [id, words] of [
        [missed.pendingId, 'it is dropped when its next attempt is due'],
        [missed.droppedId, 'Dropped: '],
      ] as const) {
        await user.open(`/deliveries/${id}`);
        await user.text(words).waitFor();
        await user.button('Enable endpoint').waitFor();
        expect(await user.button('Resend').count()).toBe(0);
        await user.check();
      }
      missed.repair();
      await user.write('Enable endpoint', {});
      await user.text('The endpoint is enabled').waitFor();
      await user.write('Resend', {});
      await user.heading(/succeeded/);
      await user.expectFine();
      await user.open(`/endpoints/${missed.endpointId}`, /enabled/);
    });

    it.each([
      ['leaked', {}, 0],
      ['planned', { 'Overlap in hours': '2' }, 7200],
    ])(
      'rotates the secret of an endpoint for the reason %s, and displays the new secret once',
      async (why, more, overlap_seconds) => {
        const user = await world.enter();
        await user.open(endpoint());
        await user.press('Rotate secret');
        // Nothing is sent without a choice.
        await user.press('Rotate secret', user.dialog);
        expect(await user.dialog.getByLabel('Why').inputValue()).toBe('');
        expect(await user.dialog.getByLabel('Overlap in hours').count()).toBe(0);
        await user.press('Cancel', user.dialog);
        const sent = user.page.waitForRequest(/rotate_secret/);
        await user.write('Rotate secret', { Why: why, ...more });
        expect((await sent).postDataJSON()).toEqual({ overlap_seconds });
        await user.dialog.getByText('Signing secret: displayed once').waitFor();
        expect(await user.dialog.locator('.secret').textContent()).toMatch(/^whsec_/);
        // Escape would lose it.
        await user.page.keyboard.press('Escape');
        await user.dialog.locator('.secret').waitFor();
        await user.check();
        await user.press('I have stored it', user.dialog);
        await user.dialog.waitFor({ state: 'detached' });
        expect(await user.page.textContent('body')).not.toContain('whsec_');
      },
    );

    it('recovers missed deliveries of an endpoint', async () => {
      const user = await world.enter();
      await user.open(endpoint());
      const since = new Date(Date.now() - 3_600_000).toISOString().slice(0, 16);
      await user.write('Recover', { Since: since });
      await user.text('The recovery has begun').waitFor();
      await user.expectFine();
    });

    it('creates a key that signs a call, and revokes the key', async () => {
      const { app } = world.service;
      const merchant = await app.newMerchant();
      const user = await world.enter({}, merchant);
      await user.open('/keys', 'Keys');
      await user.write('Create key', { Name: 'second server' });
      const privateKey = (await user.dialog.locator('.secret').textContent())!;
      await user.press('I have stored it', user.dialog);
      const { apiKey } = merchant.credentials;
      const server = new SignedClient(app.url, { apiKey, privateKey });
      await eventually(async () => (await server.get('/merchants/v1/payouts')).status === 200);
      await user.follow('second server');
      await user.heading(/second server/);
      await user.write('Revoke', {});
      await user.heading(/revoked/);
      await eventually(async () => (await server.get('/merchants/v1/payouts')).status === 401);
      await user.expectFine();
    });
  });
}

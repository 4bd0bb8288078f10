import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually.js';
import { keepPicture } from '../../support/http/screen.js';
import { SignedClient } from '../../support/http/signed-client.js';
import type { ConsoleWorld } from '../../support/pages/console-world.js';
import { missDeliveries } from '../../support/pages/missed-deliveries.js';
import type { PageUser } from '../../support/pages/page-user.js';
import { randomHash, reported } from '../../support/payouts/payout-calls.js';

const REASON = { Reason: 'The merchant called about it' };

/** docs/operations.md, "2 a.m., by symptom": from the search to the cause and its remedy. */
export function describeSymptoms(world: ConsoleWorld): void {
  describe('an operator on call, from the search in at most three clicks,', () => {
    const few = ({ clicks }: PageUser): void => expect(clicks).toBeLessThanOrEqual(3);

    it('finds that a node does not respond: the hash of a stuck payout leads to the findings of each check', async () => {
      const { app, node } = world.service;
      const [payee] = world.morning.users;
      const { hash } = await app.chain.transfer(payee!.issuer_wallet_address, '12');
      node.goDown();
      try {
        const { id } = await reported(app.merchant, payee!.id, { amount: '12', transaction_hash: hash });
        const user = await world.signIn();
        await user.search(hash);
        await user.heading(/^Payout/);
        expect(user.path).toBe(`/payouts/${id}`);
        await user.text('The last check: no node had a usable response').waitFor();
        const checks = user.page.getByRole('table', { name: 'Checks of the chain' });
        await checks
          .getByRole('cell', { name: /no node had a usable response/ })
          .first()
          .waitFor();
        await user.settled();
        await user.check();
        await keepPicture(user.page, 'console-2-payout-stuck');
        await user.follow('System', user.page.locator('.side'));
        const nodes = user.page.getByRole('table', { name: 'Nodes of the chain' });
        await nodes.getByText('unavailable').waitFor();
        few(user);
        await user.page.goBack();
        node.comeBack();
        // The page updates without a reload.
        await user.heading(/received/);
        await user.page.getByRole('heading', { name: 'Evidence' }).waitFor();
        user.problems.length = 0;
      } finally {
        node.comeBack();
      }
    });

    it('finds that a transfer does not match: the payout names the fault and the remedy', async () => {
      const user = await world.signIn();
      await user.search(world.morning.short.id);
      await user.heading(/^Payout/);
      await user.text('is not the amount reported').waitFor();
      await user.text('ask the merchant for the right one').waitFor();
      await user.page.locator('dd').getByText('100.00 USDC').waitFor();
      few(user);
    });

    it('finds a missed webhook: the delivery shows the response of the receiver and is sent again', async () => {
      const { admin, receiver } = world.service;
      const failed = `/deliveries?endpoint_id=${world.morning.endpoint.id}&status=exhausted`;
      const id = await eventually(
        async () => (await admin.get(failed)).json<{ deliveries: { id: string }[] }>().deliveries[0]?.id,
      );
      const user = await world.signIn();
      await user.search(id);
      await user.heading(/^Delivery/);
      await user.text('No further automatic attempt: the receiver responded with 500').waitFor();
      await user.text('out of order until noon').waitFor();
      await user.check();
      await keepPicture(user.page, 'console-3-delivery', { maxHeight: 960 });
      const { behavior } = receiver;
      receiver.respondWith(204);
      await user.write('Resend', REASON);
      await user.text('The delivery is sent again').waitFor();
      await user.heading(/succeeded/);
      receiver.behavior = behavior;
      expect(receiver.received.filter(({ headers }) => headers['webhook-id'] === id).length).toBeGreaterThan(
        3,
      );
      few(user);
      await user.expectFine();
    });

    it('finds a disabled endpoint: its deliveries are counted, and the next step of the merchant is named', async () => {
      const missed = await missDeliveries(world.service);
      const user = await world.signIn();
      await user.text('1 Deliveries dropped, last 7 days').waitFor();
      for (const [id, words] of [
        [missed.pendingId, 'it is dropped when its next attempt is due'],
        [missed.droppedId, 'Dropped: '],
      ] as const) {
        await user.search(id);
        await user.text(words).waitFor();
        await user.text('Its merchant enables it').waitFor();
        expect(await user.button('Resend').count()).toBe(0);
      }
      await user.check();
      await missed.enable();
      missed.repair();
      await user.page.reload();
      await user.write('Resend', REASON);
      await user.heading(/succeeded/);
      await user.expectFine();
    });

    it('requests a refund of an order, which a second operator must approve', async () => {
      const user = await world.signIn();
      await user.search(world.morning.order.id);
      await user.text('7 must be refunded').waitFor();
      await user.check();
      await user.write('Record refund', {
        'Transaction of the refund': randomHash(),
        ...REASON,
      });
      await user.dialog.getByText('A second person must approve').waitFor();
      await user.check();
      await user.follow('Open the operation', user.dialog);
      few(user);
      await user.heading(/Orders: record refund/);
      await user.text('Waits for a second person').waitFor();
      await user.expectFine();
    });

    it('finds why a person cannot sign up: the phone number leads to the review to decide', async () => {
      const user = await world.signIn();
      await user.search(world.morning.inReview.phone_number);
      await user.text('The identity check is under review').waitFor();
      expect(user.path).toBe(`/users/${world.morning.inReview.id}`);
      await user.check();
      await user.write('Decide review', { Decision: 'approve', ...REASON });
      await user.text('The review is decided').waitFor();
      await user.heading(/active/);
      few(user);
      await user.expectFine();
    });

    it('finds why a merchant gets 401: the request id leads to the text that the service expected', async () => {
      const { app } = world.service;
      const { apiKey } = app.merchant.credentials;
      const wrong = new SignedClient(app.url, { apiKey, privateKey: 'another key' });
      const refused = await wrong.post('/merchants/v1/users', { phone_number: '+14155550123' }, randomUUID());
      const id = refused.headers['request-id']!;
      const { admin } = world.service;
      await eventually(async () => {
        const found = await admin.get(`/requests?request_id=${id}`);
        return found.json<{ requests: object[] }>().requests.length === 1;
      });
      const user = await world.signIn();
      await user.search(id);
      await user.text('The signature did not match').waitFor();
      await user.text(/POST\s\/merchants\/v1\/users\ssha256:[0-9a-f]{64}/).waitFor();
      await user.check();
      few(user);
    });

    it.each([
      ['leaked', 401],
      ['planned', 200],
    ])('rolls a key for the reason %s, after which the former key gets %d', async (why, status) => {
      const { app, admin } = world.service;
      const merchant = await app.newMerchant();
      const query = `/credentials?merchant_id=${merchant.credentials.apiKey}`;
      const [key] = (await admin.get(query)).json<{ credentials: { id: string }[] }>().credentials;
      const user = await world.signIn();
      await user.search(key!.id);
      await user.heading(/active/);
      await user.write('Roll', { ...REASON, Why: why });
      await user.press('I have stored it', user.dialog);
      await user.heading(why === 'leaked' ? /revoked|expired/ : /rolling/);
      await eventually(async () => (await merchant.get('/merchants/v1/payouts')).status === status);
      few(user);
      await user.expectFine();
    });
  });
}

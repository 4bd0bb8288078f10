import { describe, expect, it } from '@jest/globals';
import { keepPicture } from '../../support/http/screen.js';
import type { ConsoleWorld } from '../../support/pages/console-world.js';
import { randomHash } from '../../support/payouts/payout-calls.js';

export function describeSecondPerson(world: ConsoleWorld): void {
  describe('a second person', () => {
    it('approves what another requested: it is executed, and both see it', async () => {
      const path = `/merchants/${world.morning.raised.id}`;
      const ada = await world.signIn();
      await ada.page.clock.install();
      await ada.open(path, 'Corner store');
      await ada.write('Change limit', { 'Requests per minute': '9000', Reason: 'Their sale began' });
      await ada.dialog.getByText('A second person must approve').waitFor();
      await ada.follow('Open the operation', ada.dialog);
      await ada.heading(/Merchants: update/);
      await ada.settled();
      const id = ada.path.split('/')[2]!;
      // One's own approval: not offered, and refused.
      expect(await ada.button('Approve').count()).toBe(0);
      await ada.button('Withdraw').waitFor();
      const refused = await ada.page.evaluate<number>(`fetch('/admin/v1/operations/${id}/approve', {
        method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ reason: 'It is my own' }) }).then(({ status }) => status)`);
      expect(refused).toBe(403);

      const grace = await world.signIn(world.grace);
      await grace.open(`/operations/${id}`, /pending approval/);
      await grace.text('Their sale began').waitFor();
      await grace.check();
      await keepPicture(grace.page, 'console-4-operation');
      await grace.write('Approve', { Reason: 'Agreed with their account manager' });
      await grace.text('The operation is approved and executed').waitFor();
      await grace.heading(/executed/);
      await grace.text('Agreed with their account manager').waitFor();
      // Without a reload.
      await ada.page.clock.fastForward(15_000);
      await ada.heading(/executed/);
      await ada.page.locator('dd').getByText('Grace Operator').waitFor();
      await ada.open(path, 'Corner store');
      await ada.text('9,000').waitFor();
      await ada.expectFine();
      await grace.expectFine();
    });

    it('refuses it, and the person who requested it reads why', async () => {
      const ada = await world.signIn();
      await ada.page.clock.install();
      await ada.open(`/orders/${world.morning.order.id}`);
      await ada.write('Record refund', {
        Amount: '1',
        'Transaction of the refund': randomHash(),
        Reason: 'Sent by hand',
      });
      await ada.follow('Open the operation', ada.dialog);
      await ada.heading(/Orders: record refund/);
      const grace = await world.signIn(world.grace);
      await grace.open(ada.path, /pending approval/);
      await grace.write('Reject', { Reason: 'There is no such transaction' });
      await grace.heading(/rejected/);
      await ada.page.clock.fastForward(15_000);
      await ada.heading(/rejected/);
      await ada.text('There is no such transaction').waitFor();
    });

    it.each<[role: string, offered: readonly string[]]>([
      ['viewer', []],
      ['finance', []],
      ['compliance', ['Approve', 'Reject']],
    ])(
      'who has the scope of the operation decides, with a reason and no ticket: a %s is offered %j',
      async (role, offered) => {
        const user = await world.signIn(await world.service.newOperator('Otto Operator', role));
        await user.open(`/operations/${world.morning.operation.id}`, /pending approval/);
        await user.expectFine();
        for (const decision of ['Approve', 'Reject', 'Confirm', 'Withdraw'])
          expect([decision, await user.button(decision).count()]).toEqual([
            decision,
            offered.includes(decision) ? 1 : 0,
          ]);
        if (offered.length === 0) return;
        await user.press('Approve');
        await user.dialog.getByLabel('Reason').waitFor();
        expect(await user.dialog.getByLabel('Ticket').count()).toBe(0);
      },
    );

    it('confirms a suspension from the list of what needs attention', async () => {
      const grace = await world.signIn(world.grace);
      await grace.follow(/Suspensions to confirm/);
      await grace.heading('Operations');
      await grace.page.locator('a[data-row]').first().click();
      await grace.heading(/unconfirmed/);
      await grace.text(/Unconfirmed, 23 h/).waitFor();
      await grace.write('Confirm', { Reason: 'The chargebacks are real' });
      await grace.heading(/executed/);
      await grace.expectFine();
    });
  });
}

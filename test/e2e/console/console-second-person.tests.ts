import { describe, expect, it, beforeEach } from '@jest/globals';
import type { Role } from '../../../src/contexts/access/access.contract.js';
import { keepPicture } from '../../support/http/screen.js';
import type { ConsoleWorld } from '../../support/pages/console-world.js';
import { randomHash } from '../../support/payouts/payout-calls.js';
import { focused } from './keyboard.js';
import type { PageUser } from '../../support/pages/page-user.js';

export function describeSecondPerson(world: ConsoleWorld): void {
  describe('a second operator', () => {
    it('approves an operation of another operator, and both pages then display it as executed', async () => {
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
      // The console neither offers nor accepts the own approval.
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
      // The page updates without a reload.
      await ada.page.clock.fastForward(15_000);
      await ada.heading(/executed/);
      await ada.page.locator('dd').getByText('Grace Operator').waitFor();
      await ada.open(path, 'Corner store');
      await ada.text('9,000').waitFor();
      await ada.expectFine();
      await grace.expectFine();
    });

    it('rejects an operation, and the requester reads the reason', async () => {
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

    it.each<[role: Role, offered: readonly string[]]>([
      ['viewer', []],
      ['finance', []],
      ['compliance', ['Approve', 'Reject']],
    ])('decides only with the scope of the operation: the role %s is offered %j', async (role, offered) => {
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
    });

    it('confirms a suspension from the list of items that need attention', async () => {
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

interface Merchant {
  readonly id: string;
  readonly embedding: { readonly origins: readonly string[]; readonly display_name: string | null };
}

const ORIGINS = 'Origins that may embed';

export function describeTwoPeople(world: ConsoleWorld): void {
  describe('editing a merchant that another operator changes meanwhile', () => {
    let merchant: Merchant;
    const path = (): string => `/merchants/${merchant.id}`;
    const now = async (): Promise<Merchant> => (await world.service.admin.get(path())).json().merchant;

    beforeEach(async () => {
      const body = { name: 'Book store', reason: 'They signed' };
      const { admin } = world.service;
      ({ merchant } = (await admin.post('/merchants', body)).json());
      const embedding = { origins: ['https://old.example'], display_name: 'Books' };
      await admin.change(path(), '', { embedding, reason: 'Their shop' });
    });

    /** Opens Ada's dialog, then Grace adds an origin, which the page behind the dialog has read. */
    async function adaAfterGrace(fields: Readonly<Record<string, string>>): Promise<PageUser> {
      const ada = await world.signIn();
      await ada.page.clock.install();
      await ada.open(path(), 'Book store');
      await ada.press('Settings');
      const grace = await world.signIn(world.grace);
      await grace.open(path(), 'Book store');
      const origins = 'https://old.example\nhttps://grace.example';
      await grace.write('Settings', { [ORIGINS]: origins, Reason: 'Their second shop' }, 'Save');
      await grace.text('The settings are changed').waitFor();
      await ada.page.clock.fastForward(15_000);
      await ada.page.locator('dd').getByText('https://grace.example').waitFor();
      for (const [label, value] of Object.entries(fields)) await ada.dialog.getByLabel(label).fill(value);
      await ada.press('Save', ada.dialog);
      return ada;
    }

    it('displays the change of the other operator, and “Apply mine on top” saves both changes', async () => {
      const origins = 'https://old.example\nhttps://ada.example';
      const ada = await adaAfterGrace({ [ORIGINS]: origins, Reason: 'Their app' });
      const note = ada.dialog.getByRole('alert');
      await note.getByText('Changed in the meantime').waitFor();
      for (const text of ['Grace Operator', 'Their second shop', ORIGINS, 'https://grace.example'])
        await note.getByText(text).first().waitFor();
      expect((await now()).embedding.origins).not.toContain('https://ada.example');
      await ada.check();
      expect(await focused(ada)).toBe('Keep theirs');
      await ada.press('Apply mine on top', ada.dialog);
      await note.getByText('Your entries are on top of the new state').waitFor();
      expect(await ada.dialog.getByLabel(ORIGINS).inputValue()).toBe(
        'https://grace.example\nhttps://old.example\nhttps://ada.example',
      );
      await ada.press('Save', ada.dialog);
      await ada.text('The settings are changed').waitFor();
      expect((await now()).embedding.origins).toEqual([
        'https://ada.example',
        'https://grace.example',
        'https://old.example',
      ]);
      ada.problems.length = 0;
      await ada.expectFine();
    });

    it('sends nothing after “Keep theirs”', async () => {
      const ada = await adaAfterGrace({ [ORIGINS]: '', Reason: 'They closed' });
      await ada.dialog.getByRole('alert').waitFor();
      await ada.press('Keep theirs', ada.dialog);
      await ada.dialog.waitFor({ state: 'detached' });
      expect((await now()).embedding.origins).toEqual(['https://grace.example', 'https://old.example']);
    });

    it('sends no field that only the other operator changed', async () => {
      const ada = await adaAfterGrace({ 'Displayed as': 'Books & more', Reason: 'Their new name' });
      await ada.press('Apply mine on top', ada.dialog);
      const sent = ada.page.waitForRequest((request) => request.method() === 'PATCH');
      await ada.press('Save', ada.dialog);
      expect((await sent).postDataJSON()).toEqual({
        embedding: { display_name: 'Books & more' },
        reason: 'Their new name',
      });
      await ada.text('The settings are changed').waitFor();
      expect((await now()).embedding).toMatchObject({
        origins: ['https://grace.example', 'https://old.example'],
        display_name: 'Books & more',
      });
    });

    it('does not offer to repeat an action that the other operator completed', async () => {
      const ada = await world.signIn();
      await ada.open(path(), 'Book store');
      await ada.press('Suspend');
      await world.service.admin.change(path(), '/suspend', { reason: 'Chargebacks' });
      await ada.dialog.getByLabel('Reason').fill('Chargebacks');
      await ada.press('Suspend', ada.dialog);
      const note = ada.dialog.getByRole('alert');
      await note.getByText('Test operator').waitFor();
      expect(await ada.button('Apply mine on top', ada.dialog).count()).toBe(0);
      await ada.press('Keep theirs', ada.dialog);
      await ada.heading(/suspended/);
    });
  });
}

import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ConsoleWorld } from '../../support/pages/console-world.js';
import { focused } from './keyboard.js';
import type { PageUser } from '../../support/pages/page-user.js';

interface Merchant {
  readonly id: string;
  readonly embedding: { readonly origins: readonly string[]; readonly display_name: string | null };
}

const ORIGINS = 'Origins that may embed';

export function describeTwoPeople(world: ConsoleWorld): void {
  describe('of two people who edit the same thing', () => {
    let merchant: Merchant;
    const path = (): string => `/merchants/${merchant.id}`;
    const now = async (): Promise<Merchant> =>
      (await world.service.admin.get(path())).json().merchant;

    beforeEach(async () => {
      const body = { name: 'Book store', reason: 'They signed' };
      const { admin } = world.service;
      ({ merchant } = (await admin.post('/merchants', body)).json());
      const embedding = { origins: ['https://old.example'], display_name: 'Books' };
      await admin.change(path(), '', { embedding, reason: 'Their shop' });
    });

    /** Ada's dialog is open while Grace adds an origin, and the page behind it has read that. */
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

    it('the second reads who changed what, and adds to it', async () => {
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

    it('the second keeps what the first wrote: nothing is sent', async () => {
      const ada = await adaAfterGrace({ [ORIGINS]: '', Reason: 'They closed' });
      await ada.dialog.getByRole('alert').waitFor();
      await ada.press('Keep theirs', ada.dialog);
      await ada.dialog.waitFor({ state: 'detached' });
      expect((await now()).embedding.origins).toEqual(['https://grace.example', 'https://old.example']);
    });

    it('the second sends no member that only the first changed', async () => {
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

    it('the second is not offered what the first has done already', async () => {
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

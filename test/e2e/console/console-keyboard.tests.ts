import { describe, expect, it } from '@jest/globals';
import { HOME, signInFresh } from '../../support/pages/console-page.js';
import type { ConsoleWorld } from '../../support/pages/console-world.js';
import { eventually } from '../../support/eventually.js';
import { focused, tabTo } from './keyboard.js';

export function describeKeyboard(world: ConsoleWorld): void {
  describe('by keyboard alone', () => {
    it('searches, walks a list with j and k, opens a row, and writes through a dialog', async () => {
      const user = await world.signIn();
      const { keyboard } = user.page;
      await user.open('/', HOME);
      await keyboard.press('Tab');
      expect(await focused(user)).toBe('Skip to the content');
      await tabTo(user, 'Users');
      await keyboard.press('Enter');
      await user.heading('Users');
      await user.settled();
      const ids = await user.page.evaluate<string[]>(
        "[...document.querySelectorAll('a[data-row]')].map(({ pathname }) => pathname)",
      );
      for (const key of ['j', 'j', 'j', 'k']) await keyboard.press(key);
      await keyboard.press('Enter');
      await user.page.waitForURL(`${user.origin}${ids[1]!}`);
      await user.search(world.morning.users[1]!.id);
      await user.page.waitForURL(`${user.origin}/users/${world.morning.users[1]!.id}`);
      await user.settled();
      expect(await focused(user)).toContain('User');
      await tabTo(user, 'Deactivate');
      await keyboard.press('Enter');
      await user.dialog.waitFor();
      const former = await user.dialog.elementHandle();
      await tabTo(user, /^Reason/);
      await keyboard.press('Escape');
      await user.dialog.waitFor({ state: 'detached' });
      await eventually(async () => (await focused(user)) === 'Deactivate');
      await keyboard.press('Enter');
      await user.dialog.waitFor();
      await former?.dispatchEvent('close');
      await tabTo(user, /^Reason/);
      await keyboard.type('The person requested it');
      // The focus stays in the dialog.
      for (let n = 0; n < 8; n += 1) {
        await keyboard.press('Tab');
        expect(await user.page.evaluate('document.activeElement.closest("dialog, body") !== null')).toBe(
          true,
        );
      }
      await tabTo(user, 'Deactivate');
      await keyboard.press('Enter');
      await user.heading(/deactivat/);
      await user.expectFine();
    });

    it('? lists the keys, Escape closes them; letters typed into a field are text', async () => {
      const user = await world.signIn();
      const { keyboard } = user.page;
      await keyboard.press('?');
      await user.dialog.getByText('Next row').waitFor();
      await user.check();
      await keyboard.press('Escape');
      await user.dialog.waitFor({ state: 'detached' });
      await keyboard.press('/');
      await keyboard.type('j?k/');
      expect(await user.page.getByRole('searchbox').inputValue()).toBe('j?k/');
      expect(await user.dialog.count()).toBe(0);
    });

    it('opens and closes the menus', async () => {
      const user = await signInFresh(world.browser, world.service, world.ada);
      const { keyboard } = user.page;
      await tabTo(user, 'Account of Ada Operator');
      await keyboard.press('Enter');
      await user.text('Administrator, ').waitFor();
      await keyboard.press('Escape');
      await user.text('Administrator, ').waitFor({ state: 'hidden' });
      await keyboard.press('Enter');
      await tabTo(user, 'Sign out');
      await keyboard.press('Enter');
      await user.heading('Sign in');
    });
  });
}

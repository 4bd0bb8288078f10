import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually.js';
import { HOME, visitConsole, signInFresh } from '../../support/pages/console-page.js';
import type { ConsoleWorld } from '../../support/pages/console-world.js';
import type { PageUser } from '../../support/pages/page-user.js';
import { focused, tabTo } from './keyboard.js';

export function describeLogin(world: ConsoleWorld): void {
  describe('signing in', () => {
    const visit = (origins: readonly string[] = []): Promise<PageUser> =>
      visitConsole(world.browser, world.service, { origins });

    const signOut = async (user: PageUser, name: string): Promise<void> => {
      await user.press(`Account of ${name}`);
      await user.press('Sign out');
      await user.heading('Sign in');
    };

    it('works once with the sandbox link, without a passkey, and the operator can sign out', async () => {
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

    it('works with the identity provider and returns to the page where the operator was', async () => {
      const { issuer, ada } = world;
      issuer.signInAs({ email: ada.email, email_verified: true });
      const user = await visit([issuer.url]);
      await user.open('/payouts?status=pending', 'Sign in');
      await user.follow('Sign in with your identity provider');
      await user.heading('Payouts');
      expect(user.path).toBe('/payouts?status=pending');
      await user.expectFine();
    });

    it('is offered when the session ends, and the data of the page is removed', async () => {
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

const MINUTE_MS = 60_000;
const ENDED = 'You were signed out after 15 min without activity.';

/** Records the later reads of the page: path, and whether it counts as background. */
function readsOf(page: Page): (readonly [path: string, isBackground: boolean])[] {
  const reads: (readonly [string, boolean])[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.resourceType() === 'fetch')
      reads.push([pathname, request.headers()['disburse-background'] === 'true']);
  });
  return reads;
}

/** admin-api.md 5: 15 minutes without activity end a session, which all tabs of a browser share. */
export function describeIdleEnd(world: ConsoleWorld): void {
  describe('a tab that is not used', () => {
    /** Opens the first page, whose clock the test moves. */
    async function visit(): Promise<PageUser & { readonly operatorId: string }> {
      const operator = await world.service.newOperator('Ida Operator', 'viewer');
      const user = await signInFresh(world.browser, world.service, operator);
      await user.page.clock.install();
      await user.open('/', HOME);
      return Object.assign(user, { operatorId: operator.id });
    }
    const idle = (operatorId: string): Promise<unknown> =>
      world.service.app.database.query(
        `update access.console_sessions set last_seen_at = now() - interval '20 minutes' where operator_id = $1`,
        [operatorId],
      );

    it('marks its requests as background reads after a minute, until it is used again', async () => {
      const user = await visit();
      const { clock, keyboard } = user.page;
      await user.settled();
      const reads = readsOf(user.page);
      const next = async (afterMs = 16_000): Promise<boolean[]> => {
        reads.length = 0;
        const request = user.page.waitForRequest(/\/admin\/v1\/payouts\?/, { timeout: 60_000 });
        const isSent = request.then(() => true);
        await clock.fastForward(afterMs);
        // The timer of a read may start after the clock has moved on a busy machine.
        for (let n = 0; n < 2 && !(await Promise.race([isSent, sleep(10_000, false)])); n += 1)
          await clock.fastForward(16_000);
        const read = await request;
        // The next read starts after the response.
        await (await read.response())?.finished();
        return reads
          .filter(([path]) => path.startsWith('/admin/v1/'))
          .map(([, isBackground]) => isBackground);
      };
      expect(new Set(await next())).toEqual(new Set([false]));
      await next(2 * MINUTE_MS);
      expect(new Set(await next())).toEqual(new Set([true]));
      await keyboard.press('j');
      expect(new Set(await next())).toEqual(new Set([false]));
    });

    it('stays signed in while another tab is used, and offers sign-in once the session ends', async () => {
      const user = await visit();
      const tab = await user.page.context().newPage();
      await tab.goto(`${user.origin}/payouts`);
      await tab.getByRole('heading', { name: 'Payouts' }).waitFor();
      const reads = readsOf(user.page);
      const verified = user.page.waitForResponse(/\/session$/);
      await user.page.clock.fastForward(16 * MINUTE_MS);
      expect((await verified).status()).toBe(200);
      expect(reads.filter(([path]) => path === '/session')).toEqual([['/session', true]]);
      await user.heading(HOME);
      await tab.getByRole('link', { name: 'Orders' }).first().click();
      await tab.getByRole('heading', { name: 'Orders' }).waitFor();

      await idle(user.operatorId);
      await user.page.clock.fastForward(MINUTE_MS);
      await user.heading('Sign in');
      await user.text(ENDED).waitFor();
      expect(await user.rows().count()).toBe(0);
      // The tab ends no session that a person may have opened meanwhile.
      expect(reads.map(([path]) => path)).not.toContain('/logout');
    });

    it('signs out after CONSOLE_IDLE_SECONDS and displays this limit in minutes', async () => {
      const { config } = world.service.app;
      const { consoleIdleSeconds } = config;
      try {
        Object.assign(config, { consoleIdleSeconds: 240 });
        const user = await visit();
        await user.settled();
        await idle(user.operatorId);
        await user.page.clock.fastForward(5 * MINUTE_MS);
        await user.heading('Sign in');
        await user.text('You were signed out after 4 min without activity.').waitFor();
      } finally {
        Object.assign(config, { consoleIdleSeconds });
      }
    });
  });
}

export function describeKeyboard(world: ConsoleWorld): void {
  describe('the keyboard alone', () => {
    it('suffices to search, to move in a list with j and k, to open a row and to submit a dialog', async () => {
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

    it('lists the shortcuts on ? and closes the list on Escape, while letters typed in a field are text', async () => {
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

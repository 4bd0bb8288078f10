import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { HOME, signInFresh } from '../../support/pages/console-page.js';
import type { ConsoleWorld } from '../../support/pages/console-world.js';
import type { PageUser } from '../../support/pages/page-user.js';

const MINUTE_MS = 60_000;
const ENDED = 'You were signed out after 15 min without activity.';

/** Whether each read of the page says that it is none of the person, by its path, from now on. */
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
    /** At the first page, whose clock the test moves. */
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

    it('says of its reads after a minute that they are none of the person, until it is used again', async () => {
      const user = await visit();
      const { clock, keyboard } = user.page;
      await user.settled();
      const reads = readsOf(user.page);
      const next = async (afterMs = 16_000): Promise<boolean[]> => {
        reads.length = 0;
        const request = user.page.waitForRequest(/\/admin\/v1\/payouts\?/, { timeout: 60_000 });
        const isSent = request.then(() => true);
        await clock.fastForward(afterMs);
        // The timer of a read starts once the one before it is displayed, on a busy machine after the clock has moved.
        for (let n = 0; n < 2 && !(await Promise.race([isSent, sleep(10_000, false)])); n += 1)
          await clock.fastForward(16_000);
        const read = await request;
        // Nothing is read again while it is read.
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

    it('stays while another tab is in use, and ends with the session', async () => {
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
      // Nothing was sent to end a session that a person may have opened meanwhile.
      expect(reads.map(([path]) => path)).not.toContain('/logout');
    });

    it('ends after the time of CONSOLE_IDLE_SECONDS, and says that time', async () => {
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

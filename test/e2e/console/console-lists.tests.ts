import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { eventually } from '../../support/eventually.js';
import type { ConsoleWorld } from '../../support/pages/console-world.js';
import type { PageUser } from '../../support/pages/page-user.js';

export function describeLists(world: ConsoleWorld): void {
  describe('a list', () => {
    /** A call of the merchant; the id of the request, once the log has it. */
    async function request(path = `/merchants/v1/users/${randomUUID()}`): Promise<string> {
      const { app, admin } = world.service;
      const id = (await app.merchant.get(path)).headers['request-id']!;
      await eventually(async () => {
        const found = await admin.get(`/requests?request_id=${id}`);
        return found.json<{ requests: object[] }>().requests.length === 1;
      });
      return id;
    }
    const newest = (user: PageUser): Promise<string | null> =>
      user.page.locator('a[data-row]').first().getAttribute('href');

    it('is read again every 15 seconds, and nothing moves behind a dialog', async () => {
      const user = await world.signIn();
      await user.page.clock.install();
      await request();
      await user.open('/requests', 'Requests');
      await user.settled();
      const { clock, keyboard } = user.page;
      const read = async (): Promise<void> => {
        const list = user.page.waitForResponse(/\/admin\/v1\/requests/);
        await clock.fastForward(15_000);
        await list;
      };
      const first = await request();
      await read();
      await eventually(async () => (await newest(user)) === `/requests/${first}`);
      await keyboard.press('?');
      await user.dialog.waitFor();
      const second = await request();
      await read();
      await read();
      expect(await newest(user)).toBe(`/requests/${first}`);
      await keyboard.press('Escape');
      await eventually(async () => (await newest(user)) === `/requests/${second}`);
      await user.expectFine();
    });

    it('is exported with all rows of the filter, not with those that are loaded', async () => {
      const path = `/merchants/v1/users/${randomUUID()}`;
      const { merchant } = world.service.app;
      for (let n = 0; n < 60; n += 1) await merchant.get(path);
      await request(path);
      const user = await world.signIn();
      await user.open(`/requests?path=${path}`, 'Requests');
      await user.button('Load more').waitFor();
      const saving = user.page.waitForEvent('download');
      await user.press('Export CSV');
      const file = await saving;
      expect(file.suggestedFilename()).toBe('requests.csv');
      const [head, ...lines] = (await readFile(await file.path(), 'utf8')).trim().split('\r\n');
      expect(head).toMatch(/At,Method,Path,Status/);
      expect(lines.filter((line) => line.includes(`,GET,${path},404,`)).length).toBe(61);
      expect(lines.length).toBe(61);
      await user.text('The file has all 61 rows').waitFor();
      await user.expectFine();
    });

    it('is filtered in the history: Back leads from a row to the filtered list, then to the filters before', async () => {
      const user = await world.signIn();
      await user.open('/payouts', 'Payouts');
      const status = user.page.getByRole('search', { name: 'Filters' }).getByLabel('Status');
      await status.selectOption('expired');
      await user.page.waitForURL(/\?status=expired$/);
      await status.selectOption('received');
      await user.page.waitForURL(/\?status=received$/);
      await user.settled();
      await user.page.locator('a[data-row]').first().click();
      await user.heading(/^Payout /);
      await user.page.goBack();
      await user.heading('Payouts');
      expect([user.path, await status.inputValue()]).toEqual(['/payouts?status=received', 'received']);
      await user.page.goBack();
      await eventually(async () => (await status.inputValue()) === 'expired');
      await user.page.goBack();
      await eventually(async () => (await status.inputValue()) === '');
      expect(user.path).toBe('/payouts');
      await user.expectFine();
    });

    it('says that there is no connection, and is read once there is one again', async () => {
      const user = await world.signIn();
      await user.open('/payouts', 'Payouts');
      await user.page.context().setOffline(true);
      await user.follow('Orders', user.page.locator('.side'));
      await user.heading('Orders');
      await user.alert().getByText('No connection').waitFor();
      await user.page.context().setOffline(false);
      await user.rows().first().waitFor();
      user.problems.length = 0;
      await user.expectFine();
    });

    it('has its times and dates in UTC, and says so', async () => {
      const user = await world.signIn();
      await user.open('/payouts', 'Payouts');
      await user.settled();
      expect(await user.page.locator('tbody time').first().textContent()).toMatch(/\d\d:\d\d:\d\d UTC/);
      await user.page.getByLabel('Created from (UTC)').waitFor();
      await user.check();
    });
  });
}

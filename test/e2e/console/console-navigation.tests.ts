import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ConsoleWorld } from '../../support/pages/console-world.js';
import type { PageUser } from '../../support/pages/page-user.js';
import { payUrl } from '../../support/exchange/pay-page.js';
import { pageUrl } from '../../support/onboarding/people.js';
import { keepPicture } from '../../support/http/screen.js';
import { eventually } from '../../support/eventually.js';

/** The items of the navigation, and whether a row leads to a detail page. */
const PAGES = [
  ['Payouts', true],
  ['Orders', true],
  ['Users', true],
  ['Merchants', true],
  ['Credentials', true],
  ['Webhook endpoints', true],
  ['Deliveries', true],
  ['Requests', true],
  ['Operations', true],
  ['Operators', true],
  ['System', false],
] as const;

export function describeNavigation(world: ConsoleWorld): void {
  describe('the navigation', () => {
    const navigation = (user: PageUser) => user.page.locator('.side').getByRole('navigation');

    it('leads an administrator to each page of the console', async () => {
      const user = await world.signIn();
      const labels = await navigation(user).getByRole('link').allTextContents();
      expect(labels).toEqual(['Attention', ...PAGES.map(([label]) => label)]);
    });

    it.each(PAGES)(
      'leads to %s: the page and the page of its first row have data and are accessible at each width',
      async (label, opens) => {
        const user = await world.signIn();
        await user.follow(label, navigation(user));
        await user.heading(label);
        await user.expectFine();
        expect(await user.rows().count()).toBeGreaterThan(0);
        expect(await navigation(user).locator('[aria-current]').allTextContents()).toEqual([label]);
        await user.check();
        if (label === 'System')
          await keepPicture(user.page, 'console-5-system', { dark: true, maxHeight: 1000 });
        if (!opens) return;
        await user.page.locator('a[data-row]').first().click();
        await user.page.waitForURL(
          (url) => url.href !== `${user.origin}/${label.toLowerCase().replace(' ', '_')}`,
        );
        await user.expectFine();
        await user.check();
      },
    );

    it('offers a viewer neither writes nor data beyond the role', async () => {
      const user = await world.signIn(await world.service.newOperator('Vera Viewer', 'viewer'));
      await user.open(`/users/${world.morning.inReview.id}`);
      await user.expectFine();
      for (const action of ['Decide review', 'Deactivate', 'Retry'])
        expect(await user.button(action).count()).toBe(0);
      await user.text('not visible to your role').waitFor();
      await user.open('/users', 'Users');
      await user.settled();
      const filters = user.page.getByRole('search', { name: 'Filters' });
      await filters.getByLabel('External id').waitFor();
      expect(await filters.getByLabel('Phone number').count()).toBe(0);
    });

    it('the console and the portal load their icons only from their own origins', async () => {
      const { consoleUrl, portalUrl } = world.service;
      for (const [name, url] of Object.entries({ console: consoleUrl, portal: portalUrl })) {
        const document = await fetch(url, { headers: { accept: 'text/html' } });
        expect(document.headers.get('content-security-policy')).toMatch(/; img-src 'self';/);
        const [, icon] = /rel="icon" href="([^"]+)"/.exec(await document.text())!;
        expect(icon).toBe(`/${name}/assets/icon.svg`);
        const response = await fetch(url + icon!);
        expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
      }
      const { app } = world.service;
      for (const origin of [app.url, consoleUrl, portalUrl, payUrl(app), pageUrl(app.app)]) {
        const { status, headers } = await fetch(`${origin}/favicon.ico`);
        expect([origin, status, headers.get('content-type')]).toEqual([origin, 200, 'image/svg+xml']);
      }
    });

    it('explains an unknown address, an unknown id, and a search or filter without results', async () => {
      const user = await world.signIn();
      await user.open('/nothing/here/at-all', 'There is no such page');
      await user.check();
      await user.open(`/payouts/${randomUUID()}`, 'Payout');
      await user.text('Nothing here has this id').waitFor();
      await user.check();
      await user.search('no such thing');
      await user.text('Nothing has exactly this id').waitFor();
      await user.check();
      await user.open('/deliveries?status=dropped', 'Deliveries');
      await user.text('Nothing matches these filters').waitFor();
      await user.check();
    });

    it('counts items that need attention, and each count leads to the list of its items', async () => {
      const user = await world.signIn();
      await user.expectFine();
      const counts = user.page.locator('.matters');
      for (const [title, heading] of [
        ['1 Approvals pending', 'Operations'],
        ['1 Suspensions to confirm', 'Operations'],
        ['1 Orders to refund', 'Orders'],
        ['1 Onboardings in review', 'Users'],
      ] as const) {
        await user.follow(title, counts);
        await user.heading(heading);
        await user.settled();
        expect(await user.page.locator('table').last().locator('tbody tr').count()).toBe(1);
        await user.page.goBack();
      }
      await user.check();
      await keepPicture(user.page, 'console-1-attention');
    });
  });
}

export function describeLists(world: ConsoleWorld): void {
  describe('a list', () => {
    /** Sends a call of the merchant and returns its request id once it is logged. */
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

    it('is refreshed every 15 seconds unless a dialog is open', async () => {
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

    it('is exported with all rows of the filter, not only the loaded ones', async () => {
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

    it('keeps its filters in the history: Back restores the filtered list and earlier filters', async () => {
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

    it('reports a lost connection and is refreshed when the connection returns', async () => {
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

    it('displays dates and times in UTC and labels them as UTC', async () => {
      const user = await world.signIn();
      await user.open('/payouts', 'Payouts');
      await user.settled();
      expect(await user.page.locator('tbody time').first().textContent()).toMatch(/\d\d:\d\d:\d\d UTC/);
      await user.page.getByLabel('Created from (UTC)').waitFor();
      await user.check();
    });
  });
}

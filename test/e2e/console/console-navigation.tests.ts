import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ConsoleWorld } from '../../support/pages/console-world.js';
import type { PageUser } from '../../support/pages/page-user.js';
import { payUrl } from '../../support/exchange/pay-page.js';
import { pageUrl } from '../../support/onboarding/people.js';
import { keepPicture } from '../../support/http/screen.js';

/** Each item of the navigation, and whether a row leads to a page of one. */
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

    it('leads an administrator to each page of the contract', async () => {
      const user = await world.signIn();
      const labels = await navigation(user).getByRole('link').allTextContents();
      expect(labels).toEqual(['Attention', ...PAGES.map(([label]) => label)]);
    });

    it.each(PAGES)(
      '%s: has data, is accessible at each width, and so is its first row',
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

    it('a viewer is offered no write, and neither what their role may not read', async () => {
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

    it('loads images from its origin alone, such as its icon; so does the portal', async () => {
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

    it('says in words that nothing is there: an address, an id, a search', async () => {
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

    it('what needs attention is counted, and each count leads to what it counts', async () => {
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

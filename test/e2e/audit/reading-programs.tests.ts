import { beforeAll, describe, expect, it } from '@jest/globals';
import { LookupsView } from '../../../src/contexts/operations/contract.js';
import type { AdminClient } from '../../support/admin/admin-client.js';
import { asShell } from '../../support/programs/disburse.js';
import type { WholeJourney } from './whole-journey.js';

/** What the shell reads, over the journey of the suite. */
export function describeReadingPrograms(ofSuite: () => WholeJourney): void {
  describe('what the shell displays of a merchant', () => {
    let journey: WholeJourney;
    let merchantId: string;
    let grace: AdminClient;

    beforeAll(async () => {
      journey = ofSuite();
      merchantId = journey.app.merchant.credentials.apiKey;
      grace = await journey.app.newAdmin({ role: 'support' });
      // Programs of other tests displayed some of it.
      await journey.app.database.query('truncate operations.lookups');
    });

    const run = (...args: readonly string[]) => asShell(journey.app.config.dataDir, ...args);
    const lookups = async () => {
      const view = journey.app.app.get(LookupsView, { strict: false });
      const { lookups: found } = await view.page(merchantId, { page_size: 100 });
      return found
        .filter(({ kind }) => kind === 'read')
        .map(({ operator_name: name, subject }) => `${name} ${subject}`);
    };

    it('is in the lookups of the merchant, by the person whose key it is, or the shell', async () => {
      const { user, received, pending, order, test } = journey;
      const commands: readonly (readonly [subject: string, ...args: string[]])[] = [
        [`payout ${received}`, 'payouts', 'show', received],
        [`payout ${pending}`, 'payouts', 'show', pending],
        [`user ${user}`, 'users', 'show', user],
        [`delivery ${test}`, 'deliveries', 'show', test],
        [`order ${order}`, 'orders', 'show', order],
        ['orders', 'orders', 'list'],
        ['credentials', 'credentials', 'list'],
        [`merchant ${merchantId}`, 'merchants', 'show', merchantId],
        ['merchants', 'merchants', 'list'],
      ];
      expect(await lookups()).toEqual([]);
      for (const [, ...args] of commands) await run(...args);
      await run('operations', 'list');
      const subjects = commands.map(([subject]) => `shell ${subject}`);
      expect((await lookups()).toSorted()).toEqual(subjects.toSorted());
      await grace.get(`/payouts/${received}`);
      await grace.get(`/payouts/${received}`);
      expect((await lookups()).filter((each) => each.startsWith('Test operator'))).toEqual([
        `Test operator payout ${received}`,
      ]);
    });
  });
}

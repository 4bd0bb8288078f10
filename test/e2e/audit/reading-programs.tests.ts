import { beforeAll, describe, expect, it } from '@jest/globals';
import { LookupsView } from '../../../src/contexts/operations/contract.js';
import type { AdminClient } from '../../support/admin/admin-client.js';
import { invoke } from '../../support/programs/cli.js';
import type { WholeJourney } from '../../support/whole-journey.js';

/** The programs that read, over the journey of the suite. */
export function describeReadingPrograms(ofSuite: () => WholeJourney): void {
  describe('what programs display of a merchant', () => {
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

    const run = (key: string | null, [program, ...args]: readonly string[]) => {
      const { databaseUrl, masterKey } = journey.app.config;
      const env = { DATABASE_URL: databaseUrl!, MASTER_KEY: masterKey! };
      return invoke(program!, { ...env, ...(key !== null && { DISBURSE_ADMIN_KEY: key }) }, ...args);
    };
    const lookups = async () => {
      const view = journey.app.app.get(LookupsView, { strict: false });
      const { lookups: found } = await view.page(merchantId, { pageSize: 100 });
      return found
        .filter(({ kind }) => kind === 'read')
        .map(({ operator_name: name, subject }) => `${name} ${subject}`);
    };

    it('is in the lookups of the merchant, by the person whose key they are run with, or the shell', async () => {
      const { user, received, pending, order, test } = journey;
      const commands: readonly (readonly [subject: string, ...args: string[]])[] = [
        [`payout ${received}`, 'payout', 'show', received],
        [`payout ${pending}`, 'payout', 'show', pending],
        [`user ${user}`, 'user', 'show', user],
        [`delivery ${test}`, 'delivery', 'show', test],
        [`order ${order}`, 'exchange', 'order', order],
        ['orders', 'exchange', 'orders'],
        ['credentials', 'exchange', 'key', 'list'],
        [`merchant ${merchantId}`, 'merchant', 'show', merchantId],
        ['merchants', 'merchant', 'list'],
      ];
      expect(await lookups()).toEqual([]);
      for (const [, ...args] of commands) await run(null, args);
      const subjects = commands.map(([subject]) => `shell ${subject}`);
      expect((await lookups()).toSorted()).toEqual(subjects.toSorted());
      await run(grace.key, ['payout', 'show', received]);
      await run(grace.key, ['payout', 'show', received]);
      expect((await lookups()).filter((each) => each.startsWith('Test operator'))).toEqual([
        `Test operator payout ${received}`,
      ]);
    });

    it('is displayed to no key that is not valid, and nothing else is recorded', async () => {
      const before = await lookups();
      const rejected = run(`${grace.key}x`, ['payout', 'show', journey.received]);
      await expect(rejected).rejects.toThrow('DISBURSE_ADMIN_KEY is not a valid admin key');
      await expect(run(null, ['payout', 'show', merchantId])).rejects.toThrow('Payout not found');
      await run(null, ['operation', 'list']);
      await run(null, ['exchange', 'settings']);
      expect(await lookups()).toEqual(before);
    });
  });
}

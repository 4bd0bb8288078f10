import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { PayoutHarness, type TestUser } from '../../support/payouts/payout-harness.js';

const BACKLOG = 50_000;

describe('a backlog of old payouts', () => {
  let harness: PayoutHarness;
  let user: TestUser;

  beforeAll(async () => {
    harness = await PayoutHarness.open();
    await harness.start();
    user = await harness.activeUser();
  });
  afterAll(() => harness.close());

  it('of 50,000 due at once does not delay a fresh payout, and is verified too', async () => {
    // As after a long outage: hours old, due long ago, with hours to go.
    await harness.db.database.query(
      `with facts as (
         insert into payouts.verifications
           (payout_id, user_id, merchant_id, chain_id, hash, amount_minor, created_at, expires_at)
         select md5('backlog' || n)::uuid, $1, $1, 31337, '0x' || md5('a' || n) || md5('b' || n), 1,
                now() - interval '12 hours', now() + interval '12 hours'
         from generate_series(1, $2::int) n returning payout_id
       )
       insert into work.items (kind, key, share, line, due_at)
       select 'payouts.verification', payout_id, $1::uuid, 1, now() - interval '1 hour' from facts`,
      [user.id, BACKLOG],
    );
    const waiting = async (): Promise<number> => {
      const [row] = await harness.db.database.query<{ count: number }>(
        `select count(*)::int as count from work.items
         where kind = 'payouts.verification' and line = 1 and state is null`,
      );
      return row!.count;
    };
    const { hash } = await harness.chain.transfer(user.wallet, '1');
    const before = await waiting();
    const id = await harness.report({ user, hash });
    expect(await harness.settled(id)).toBe('received');
    expect(await waiting()).toBeGreaterThan(BACKLOG / 2);
    await eventually(async () => (await waiting()) < before);
  });
});

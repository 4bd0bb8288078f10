import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { PayoutLab, type LabUser } from '../support/payout-lab.js';

const BACKLOG = 50_000;

describe('a backlog of old payouts', () => {
  let lab: PayoutLab;
  let user: LabUser;

  beforeAll(async () => {
    lab = await PayoutLab.open();
    await lab.start();
    user = await lab.activeUser();
  });
  afterAll(() => lab.close());

  it('that all want to be looked up at once does not hold up a fresh one, and is worked off too', async () => {
    // As after a long outage: hours old, due long ago, with hours to go.
    await lab.db.database.query(
      `insert into payouts.verifications
         (payout_id, user_id, merchant_id, chain_id, hash, amount_minor, created_at, expires_at, next_check_at, old)
       select md5('backlog' || n)::uuid, $1, $1, 31337, '0x' || md5('a' || n) || md5('b' || n), 1,
              now() - interval '12 hours', now() + interval '12 hours', now() - interval '1 hour', true
       from generate_series(1, $2::int) n`,
      [user.id, BACKLOG],
    );
    const waiting = async (): Promise<number> => {
      const [row] = await lab.db.database.query<{ count: number }>(
        'select count(*)::int as count from payouts.verifications where last_finding is null and old',
      );
      return row!.count;
    };
    const { hash } = await lab.chain.transfer(user.wallet, '1');
    const before = await waiting();
    const id = await lab.report({ user, hash });
    expect(await lab.settled(id)).toBe('received');
    expect(await waiting()).toBeGreaterThan(BACKLOG / 2);
    await eventually(async () => (await waiting()) < before);
  });
});

import { expect, it } from '@jest/globals';
import type { PayoutReported } from '../../src/contexts/payouts/payouts.contract.js';
import type { RecordedEvent } from '../../src/platform/event-store/port.js';
import { subscriptionOf } from '../../src/platform/projections/projection.js';
import { onTestDatabase } from '../support/postgres.js';

const db = onTestDatabase();

/** The payouts of each user, as rows. No boot requires it, because `subscriptionName` lacks the name. */
const payoutsPerUser = subscriptionOf<PayoutReported>({
  name: 'exercises.payouts_per_user',
  events: ['payout.reported.v1' satisfies PayoutReported['type']],
  async apply(events, tx) {
    // A counter would count a repeated event twice. A row per payout cannot.
    await tx.query(
      `insert into exercises.payouts (payout_id, user_id)
       select * from unnest($1::uuid[], $2::uuid[]) on conflict do nothing`,
      [events.map(({ data }) => data.payout_id), events.map(({ data }) => data.user_id)],
    );
  },
});

const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const reported = (payout: number, user: number): RecordedEvent =>
  ({ type: 'payout.reported.v1', data: { payout_id: uuid(payout), user_id: uuid(user) } }) as never;

it('Two payouts of one user and one payout of another are counted once each, even if events are repeated', async () => {
  await db.database.query(
    'create schema exercises; create table exercises.payouts (payout_id uuid primary key, user_id uuid not null)',
  );
  const events = [reported(1, 1), reported(2, 1), reported(3, 2)];
  for (const batch of [events, events])
    await db.database.transaction((tx) => payoutsPerUser.apply(batch, tx));
  const rows = await db.database.query(
    'select user_id, count(*)::int as payouts from exercises.payouts group by user_id order by user_id',
  );
  expect(rows).toEqual([
    { user_id: uuid(1), payouts: 2 },
    { user_id: uuid(2), payouts: 1 },
  ]);
});

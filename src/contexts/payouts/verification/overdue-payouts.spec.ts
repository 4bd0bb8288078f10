import { afterEach, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { systemClock } from '../../../kernel/clock.js';
import { deriveId } from '../../../kernel/ids.js';
import { chainConfig } from '../../../platform/config/config.js';
import { isOverdue, PENDING_PAYOUTS } from './overdue-payouts.view.js';
import { PayoutChecks } from './payout-checks.store.js';

const db = onTestDatabase();
const CONFIG = {
  ...chainConfig({}),
  chainId: 8453,
  // The margin of an expiry, twice, and ten minutes: an outcome is late 12 minutes after the window.
  payoutExpiryMarginSeconds: 60,
};
const id = (name: string): string => deriveId('stuck', name);
const isListed = async (name: string): Promise<boolean> => {
  const sql = `select ${isOverdue(CONFIG)} as overdue from ${PENDING_PAYOUTS} where payout_id = $1`;
  return (await db.database.query<{ overdue: boolean }>(sql, [id(name)]))[0]!.overdue;
};

interface Pending {
  readonly chain?: number;
  readonly expires?: string;
  readonly due?: string;
  /** True while a process tries. */
  readonly leased?: boolean;
  readonly failingSince?: string;
  readonly scheduled?: string;
  readonly finding?: string;
  readonly hash?: string;
}

/** Times are intervals from now. */
async function pending(name: string, over: Pending = {}): Promise<void> {
  const { chain = 8453, expires = '1 day', due = '30 seconds', leased = false, finding = null } = over;
  await db.database.query(
    `insert into payouts.verifications
       (payout_id, user_id, merchant_id, chain_id, hash, amount_minor, created_at, expires_at)
     values ($1, $1, $2, $3, $5, 2500000, now() - interval '1 hour', now() + $4::interval)`,
    [id(name), id('merchant'), chain, expires, over.hash ?? `0x${'ab'.repeat(32)}`],
  );
  await db.database.query(
    `insert into work.items (kind, key, due_at, lease, failing_since, state)
     values ('payouts.verification', $1, now() + $2::interval, $3, now() + $4::interval,
       case when $5::text is not null then jsonb_build_object('due', now() + $5::interval) end)`,
    [id(name), due, leased ? id('lease') : null, over.failingSince ?? null, over.scheduled ?? null],
  );
  if (finding !== null)
    await db.database.query(
      `insert into payouts.checks values ($1, 4, now() - interval '1 minute', $2, 'node.example', 100, null)`,
      [id(name), finding],
    );
}

afterEach(() => db.database.query('truncate payouts.verifications, payouts.checks, work.items'));

it.each<[string, Pending, boolean]>([
  ['that is checked again in 30 seconds is not overdue', { scheduled: '30 seconds' }, false],
  ['that is on another chain is overdue', { chain: 1, scheduled: '30 seconds' }, true],
  ['whose check was due 61 seconds ago is overdue', { due: '-61 seconds' }, true],
  ['whose check was due 50 seconds ago is not overdue', { due: '-50 seconds' }, false],
  [
    'whose claimed check was scheduled 61 seconds ago is overdue',
    { leased: true, scheduled: '-61 seconds' },
    true,
  ],
  ['that a process is checking on time is not overdue', { leased: true, scheduled: '-1 seconds' }, false],
  ['that was reported an hour ago and never checked is overdue', { leased: true }, true],
  ['of a user without a wallet is not overdue before its window ends', { due: '1 day' }, false],
  [
    'without a usable response for 11 minutes is overdue',
    { failingSince: '-11 minutes', scheduled: '5 seconds' },
    true,
  ],
  [
    'without a usable response for 9 minutes is not overdue',
    { failingSince: '-9 minutes', scheduled: '5 seconds' },
    false,
  ],
  ['whose window ended 13 minutes ago is overdue', { expires: '-13 minutes', scheduled: '5 seconds' }, true],
  [
    'whose window ended 11 minutes ago is not overdue',
    { expires: '-11 minutes', scheduled: '5 seconds' },
    false,
  ],
])('overdue payouts are found by chain, window and checks: a payout %s', async (_, facts, overdue) => {
  await pending('one', facts);
  expect(await isListed('one')).toBe(overdue);
});

it.each([undefined, 'no_response'])(
  'the latest finding of a payout without a valid hash is not_a_hash, even after a check with the finding %s',
  async (finding) => {
    await pending('link', { hash: 'https://basescan.org/tx/0xab', ...(finding && { finding }) });
    const latest = await new PayoutChecks(db.database, systemClock).latest([id('link')]);
    expect(latest.get(id('link'))?.last_finding).toBe('not_a_hash');
  },
);

import { afterEach, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { systemClock } from '../../../kernel/clock.js';
import { deriveId } from '../../../kernel/ids.js';
import { PayoutChecks } from '../store/payout-checks.js';
import { StuckPayouts } from './stuck-payouts.js';

const db = onTestDatabase();
const CONFIG = {
  chainId: 8453,
  chainMaxHeadAgeSeconds: null,
  payoutFinality: null,
  // The margin of an expiry, twice, and ten minutes: an outcome is late 12 minutes after the window.
  payoutExpiryMarginSeconds: 60,
};
const id = (name: string): string => deriveId('stuck', name);
const stuck = (): StuckPayouts => new StuckPayouts(db.database, CONFIG);

interface Pending {
  readonly chain?: number;
  readonly expires?: string;
  readonly due?: string;
  /** Whether a process is trying. */
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

it.each<[string, Pending, string | null]>([
  ['that is checked again in 30 seconds is not stuck', { scheduled: '30 seconds' }, null],
  ['that is on another chain is overdue', { chain: 1, scheduled: '30 seconds' }, 'other_chain'],
  ['whose check was due 61 seconds ago is overdue', { due: '-61 seconds' }, 'not_checked'],
  ['whose check was due 50 seconds ago is not stuck', { due: '-50 seconds' }, null],
  [
    'that processes try to check, and no node responds, is overdue',
    { leased: true, scheduled: '-61 seconds' },
    'no_node',
  ],
  ['that a process is checking on time is not stuck', { leased: true, scheduled: '-1 seconds' }, null],
  ['that was never checked is overdue', { leased: true }, 'no_node'],
  ['of a user without a wallet is not stuck before its window ends', { due: '1 day' }, null],
  [
    'that no node has a response about for 11 minutes is overdue',
    { failingSince: '-11 minutes', scheduled: '5 seconds' },
    'no_response',
  ],
  [
    'that no node has a response about for 9 minutes is not stuck',
    { failingSince: '-9 minutes', scheduled: '5 seconds' },
    null,
  ],
  [
    'whose window ended 13 minutes ago is overdue',
    { expires: '-13 minutes', scheduled: '5 seconds' },
    'no_outcome',
  ],
  [
    'whose window ended 11 minutes ago is not stuck',
    { expires: '-11 minutes', scheduled: '5 seconds' },
    null,
  ],
])('a payout %s', async (_, facts, overdue) => {
  await pending('one', facts);
  const listed = await stuck().list(10);
  expect(listed.map((each) => each.overdue)).toEqual(overdue === null ? [] : [overdue]);
  expect(await stuck().find(id('one'))).toMatchObject({ overdue });
});

it('a payout whose transfer is not the one reported is stuck, with what was seen and what to do', async () => {
  await pending('wrong', { scheduled: '5 seconds', finding: 'wrong_amount' });
  await pending('fresh', { scheduled: '5 seconds', finding: 'not_found' });
  const [only, ...others] = await stuck().list(10);
  expect(others).toEqual([]);
  expect(only).toMatchObject({
    payout_id: id('wrong'),
    amount: '2.5',
    chain_id: 8453,
    transaction_hash: `0x${'ab'.repeat(32)}`,
    overdue: null,
    last_finding: 'wrong_amount',
    node: 'node.example',
    attempts: 4,
    saw: "the USDC transferred to the user's wallet is not the amount reported",
  });
  expect(only!.next).toContain('ask the merchant');
  expect(await stuck().find(id('unknown'))).toBeNull();
});

it.each([undefined, 'no_response'])(
  'a payout whose text is not a hash is stuck at once, also after a check that found %s',
  async (finding) => {
    await pending('link', {
      scheduled: '5 seconds',
      hash: 'https://basescan.org/tx/0xab',
      ...(finding && { finding }),
    });
    expect(await stuck().list(10)).toMatchObject([
      { payout_id: id('link'), overdue: null, last_finding: 'not_a_hash' },
    ]);
    const latest = await new PayoutChecks(db.database, systemClock).latest([id('link')]);
    expect(latest.get(id('link'))?.last_finding).toBe('not_a_hash');
  },
);

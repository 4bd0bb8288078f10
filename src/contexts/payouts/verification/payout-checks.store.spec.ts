import { expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { systemClock } from '../../../kernel/clock.js';
import { deriveId } from '../../../kernel/ids.js';
import { CHECKS_KEPT_DAYS, MAX_CHECKS, PayoutChecks, type NewCheck } from './payout-checks.store.js';

const db = onTestDatabase();
const payout = (name: string): string => deriveId('checks', name);
const START = Date.now() - 3_600_000;
const checks = (): PayoutChecks => new PayoutChecks(db.database, systemClock);
const check = (name: string, number: number, over: Partial<NewCheck> = {}): NewCheck => ({
  payoutId: payout(name),
  number,
  finding: 'not_found',
  node: 'node.example',
  head: 100 + number,
  confirmations: null,
  ...over,
});

it('the newest 50 checks of a payout are retained, separately for each payout', async () => {
  const store = checks();
  for (let number = 1; number <= MAX_CHECKS + 7; number += 1)
    await store.record(
      [check('a', number), ...(number < 3 ? [check('b', number)] : [])],
      new Date(START + number),
    );
  const kept = await checks().list(payout('a'));
  expect(kept.map(({ head }) => head)).toEqual(
    Array.from({ length: MAX_CHECKS }, (_, n) => 100 + MAX_CHECKS + 7 - n),
  );
  expect(kept[0]).toEqual({
    at: new Date(START + MAX_CHECKS + 7).toISOString(),
    finding: 'not_found',
    node: 'node.example',
    head: 157,
    confirmations: null,
  });
  expect(await checks().list(payout('b'))).toHaveLength(2);
  const [row] = await db.database.query<{ n: number }>('select count(*)::int as n from payouts.checks');
  expect(row!.n).toBe(MAX_CHECKS + 2);
});

it('a check that two processes record is stored once, with the values of the later record', async () => {
  await checks().record([check('c', 1)], new Date(START));
  await checks().record([check('c', 1, { finding: 'confirming', confirmations: 2 })], new Date(START + 1));
  expect(await checks().list(payout('c'))).toMatchObject([{ finding: 'confirming', confirmations: 2 }]);
});

it('the last check is displayed with the time of the next check only for a pending payout', async () => {
  await db.database.query(
    `insert into work.items (kind, key, due_at) select 'payouts.verification', unnest($1::text[]), '2030-01-01'`,
    [[payout('pending'), payout('new')]],
  );
  await checks().record([check('pending', 3), check('done', 2, { finding: 'settled' })], new Date(START));
  const [last_at, next_at] = [new Date(START).toISOString(), '2030-01-01T00:00:00.000Z'];
  const latest = await checks().latest(['pending', 'new', 'done', 'old'].map(payout));
  expect(['pending', 'new', 'done', 'old'].map((name) => latest.get(payout(name)))).toEqual([
    { last_at, last_finding: 'not_found', next_at, attempts: 3 },
    { last_at: null, last_finding: null, next_at, attempts: 0 },
    { last_at, last_finding: 'settled', next_at: null, attempts: 2 },
    { last_at: null, last_finding: null, next_at: null, attempts: null },
  ]);
});

it('checks are deleted after 7 days', async () => {
  const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);
  await checks().record([check('old', 1)], daysAgo(CHECKS_KEPT_DAYS + 0.01));
  await checks().record([check('old', 2)], daysAgo(CHECKS_KEPT_DAYS - 0.01));
  await checks().prune();
  expect((await checks().list(payout('old'))).map(({ head }) => head)).toEqual([102]);
});

it('a check that cannot be recorded does not stop the verification', async () => {
  const wrong = check('wrong', 1, { head: NaN });
  await expect(checks().record([wrong], new Date(START))).resolves.toBeUndefined();
  expect(await checks().list(payout('wrong'))).toEqual([]);
});

import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { deriveId } from '../../../kernel/ids.js';
import { WorkItems } from '../../../platform/jobs/work-items.js';
import {
  LINES,
  VerificationQueue,
  type Claimed,
  type NextCheck,
  type PendingPayout,
} from './verification-queue.store.js';

const CHAIN = 31337;
const NOW = new Date();
const id = (name: string): string => deriveId('work', name);

describe('the queue of pending payouts', () => {
  const db = onTestDatabase();
  let queue: VerificationQueue;

  beforeAll(() => {
    queue = new VerificationQueue(db.database, new WorkItems(db.database));
  });
  beforeEach(() => db.database.query('truncate payouts.verifications, payouts.payouts, work.items'));

  /** Adds `count` payouts of this age that are due now. */
  const add = (name: string, count: number, { ageSeconds = 0 } = {}) =>
    db.database.query(
      `with facts as (
         insert into payouts.verifications
           (payout_id, user_id, merchant_id, chain_id, hash, amount_minor, created_at, expires_at)
         select md5($1 || n)::uuid, $2, $2, $3, $1 || n, 1, now() - make_interval(secs => $4), now() + interval '1 day'
         from generate_series(1, $5::int) n returning payout_id, merchant_id
       )
       insert into work.items (kind, key, share, due_at)
       select 'payouts.verification', payout_id, merchant_id, now() from facts`,
      [name, id('user'), CHAIN, ageSeconds, count],
    );
  const claim = (limit: number, lines: readonly number[] = [LINES.fresh, LINES.old]): Promise<Claimed> =>
    queue.claim(CHAIN, limit, lines);
  const claimOne = async (line: number): Promise<PendingPayout | undefined> =>
    (await claim(1, [line])).payouts[0];
  const again = (payout: PendingPayout, over: Partial<NextCheck> = {}): Promise<void> =>
    queue.reschedule([{ payout, delayMs: 0, finding: 'not_found', ...over }], NOW);

  it('lets only one process claim a payout, for 15 s, and removes payouts that have an outcome', async () => {
    await add('one', 10);
    const claims = await Promise.all([claim(6), claim(6), claim(10)]);
    const ids = claims.flatMap(({ payouts }) => payouts.map(({ payoutId }) => payoutId));
    expect([ids.length, new Set(ids).size]).toEqual([10, 10]);
    const [row] = await db.database.query<{ seconds: number }>(
      'select extract(epoch from max(due_at) - now())::float8 as seconds from work.items',
    );
    expect(row!.seconds).toBeGreaterThan(10);
    expect(row!.seconds).toBeLessThanOrEqual(15);
    await queue.remove(ids.slice(0, 4));
    expect(await queue.count()).toBe(6);
    expect(await db.database.query('select from work.items')).toHaveLength(6);
  });

  it('postpones payouts on another chain for half an hour', async () => {
    await add('other', 1);
    expect((await queue.claim(CHAIN + 1, 10, [LINES.fresh])).payouts).toEqual([]);
    const [row] = await db.database.query<{ minutes: number }>(
      'select extract(minute from due_at - now())::int as minutes from work.items',
    );
    expect(row!.minutes).toBe(29);
  });

  it.each([
    ['up to 10 minutes old in the fresh line', 300, {}, LINES.fresh],
    ['over 10 minutes old in the old line', 900, {}, LINES.old],
    ['without a response in a separate line', 0, { finding: 'no_response' as const }, LINES.noResponse],
    ['with a large receipt in a separate line', 900, { isLarge: true }, LINES.noResponse],
  ])('claims payouts %s', async (_, ageSeconds, check, line) => {
    await add('one', 1, { ageSeconds });
    await again((await claim(1)).payouts[0]!, check);
    expect(await claimOne(line)).toMatchObject({ hash: 'one1' });
  });

  it('counts consecutive checks without a response, but not during an outage of all nodes', async () => {
    await add('one', 1);
    await again((await claim(1)).payouts[0]!, { finding: 'no_response' });
    const second = await claimOne(LINES.noResponse);
    expect(second!.item.failures).toBe(1);
    await queue.postpone([second!], 0);
    const third = await claimOne(LINES.noResponse);
    expect(third!.item.failures).toBe(1);
    await again(third!, { finding: 'no_response' });
    const fourth = await claimOne(LINES.noResponse);
    expect(fourth!.item.failures).toBe(2);
    await again(fourth!);
    expect((await claimOne(LINES.fresh))!.item.failures).toBe(0);
  });

  it('retains the first check after the window until a check has another finding', async () => {
    await add('closing', 1);
    const check = async (finding: NextCheck['finding'], head = 0) => {
      const payout = (await claim(1)).payouts[0] ?? (await claimOne(LINES.noResponse));
      await again(payout!, {
        finding,
        ...(finding !== 'no_response' && { closing: { finding, head, at: NOW.toISOString() } }),
      });
      return payout!.item.state.closing;
    };
    expect(await check('not_found', 7)).toBeUndefined();
    const first = await check('not_found', 9);
    expect(first).toEqual({ finding: 'not_found', head: 7, at: NOW.toISOString() });
    expect(await check('no_response')).toEqual(first);
    expect(await check('reverted', 11)).toEqual(first);
    expect(await check('no_response')).toMatchObject({ finding: 'reverted', head: 11 });
  });

  it('returns a payout with the logs of its transaction that confirmed other payouts', async () => {
    await add('paid', 1);
    const receive = (payoutId: string, hash: string, logIndex: number) =>
      db.database.query(
        `insert into payouts.payouts
           (id, merchant_id, user_id, status, created_at, amount_minor, transaction_hash, log_index, body)
         values ($1, $1, $1, 1, now(), 1, $2, $3, '{}')`,
        [payoutId, hash, logIndex],
      );
    const [{ payout_id: own }] = (await db.database.query<{ payout_id: string }>(
      'select payout_id from payouts.verifications',
    )) as [{ payout_id: string }];
    await receive(id('other'), 'paid1', 0);
    await receive(own, 'paid1', 1);
    await receive(id('third'), 'paid2', 3);
    const [claimed] = (await claim(1)).payouts;
    expect(claimed).toMatchObject({ usedLogs: new Set([0]), amountMinor: 1n });
  });

  it('retains the work item of a payout whose row was deleted, but does not claim the payout', async () => {
    await add('one', 1);
    await db.database.query('truncate payouts.verifications');
    expect((await claim(1)).payouts).toEqual([]);
    expect(await db.database.query('select from work.items')).toHaveLength(1);
  });

  it.each([
    ['a check with the finding confirming updates', 'confirming', 60_000],
    ['a check without a usable response does not change', 'no_response', 0],
    ['a check that could not write the outcome does not change', 'not_written', 0],
    ['a check that found a changed row does not change', 'row_changed', 0],
  ] as const)('stores when the transfer was last not final, which %s', async (_, finding, movedMs) => {
    await add('one', 1);
    const first = (await claimOne(LINES.fresh))!;
    expect(first.item.state.notFinalAt).toBeUndefined();
    await again(first);
    const second = (await claimOne(LINES.fresh))!;
    expect(second.item.state.notFinalAt).toBe(NOW.toISOString());
    const later = new Date(NOW.getTime() + 60_000);
    await queue.reschedule([{ payout: second, delayMs: -120_000, finding }], later);
    const third = (await claim(1, Object.values(LINES))).payouts[0]!;
    expect(third.item.state.notFinalAt).toBe(new Date(NOW.getTime() + movedMs).toISOString());
  });
});

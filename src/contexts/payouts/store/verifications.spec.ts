import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { deriveId } from '../../../kernel/ids.js';
import { Verifications, type Verification } from './verifications.js';

const CHAIN = 31337;
const id = (name: string): string => deriveId('work', name);

describe('the work of verifications', () => {
  let db: TestDatabase;
  let work: Verifications;

  beforeAll(async () => {
    db = await testDatabase();
    work = new Verifications(db.database);
  });
  beforeEach(() =>
    db.database.query('truncate payouts.verifications, payouts.wallets, payouts.used_transfers'),
  );
  afterAll(() => db.drop());

  /** Adds `count` payouts that are `age` seconds old and were due `due` seconds ago. */
  const add = (name: string, count: number, age: number, due: number): Promise<unknown> =>
    db.database.query(
      `insert into payouts.verifications
         (payout_id, user_id, merchant_id, chain_id, hash, amount_minor, created_at, expires_at, next_check_at)
       select md5($1 || n)::uuid, $2, $2, $3, $1 || n, 1, now() - make_interval(secs => $4), now() + interval '1 day',
              now() - make_interval(secs => $5)
       from generate_series(1, $6::int) n`,
      [name, id('user'), CHAIN, age, due, count],
    );
  const take = async (limit: number, chainId = CHAIN): Promise<readonly Verification[]> =>
    (await work.take(chainId, limit)).work;
  const hashes = (taken: readonly { hash: string }[], kind: string): number =>
    taken.filter(({ hash }) => hash.startsWith(kind)).length;

  it('is taken by one process at a time, and given back', async () => {
    await add('one', 10, 0, 1);
    const [first, second] = await Promise.all([take(6), take(6)]);
    const ids = [...first, ...second].map(({ payoutId }) => payoutId);
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await take(10);
    expect(ids.length + rest.length).toBe(10);
    expect(await take(10)).toEqual([]);
    await work.putBack(ids.map((payoutId) => ({ payoutId, delayMs: 0, finding: 'not_found' })));
    expect(await take(100)).toHaveLength(ids.length);
    await work.remove(ids);
    expect(await work.count()).toBe(rest.length);
  });

  it('is due again when a process that took it never came back', async () => {
    await add('lost', 1, 0, 1);
    expect(await take(1)).toHaveLength(1);
    const [row] = await db.database.query<{ seconds: number }>(
      'select extract(epoch from next_check_at - now())::float8 as seconds from payouts.verifications',
    );
    expect(row!.seconds).toBeGreaterThan(1);
    expect(row!.seconds).toBeLessThanOrEqual(15);
  });

  it('is not of another chain, and not before its time', async () => {
    await add('here', 1, 0, 1);
    await add('later', 1, 0, -5);
    expect(await take(10, CHAIN + 1)).toEqual([]);
    expect(await take(10)).toHaveLength(1);
  });

  it('of fresh payouts does not wait behind a heap of old ones, nor the other way round', async () => {
    await add('old', 5000, 3600, 100);
    await work.putBack(
      (await take(5000)).map(({ payoutId }) => ({ payoutId, delayMs: 0, finding: 'not_found' })),
    );
    // A take gives fresh ones four fifths: what is left over of the heap was never taken, and still counts as fresh.
    await work.putBack(
      (await take(5000)).map(({ payoutId }) => ({ payoutId, delayMs: 0, finding: 'not_found' })),
    );
    await add('new', 1000, 1, 0);
    const taken = await take(500);
    expect(hashes(taken, 'new')).toBe(400);
    expect(hashes(taken, 'old')).toBe(100);
  });

  it('fills up with old payouts when few are fresh', async () => {
    await add('old', 600, 3600, 100);
    await db.database.query('update payouts.verifications set old = true');
    await add('new', 3, 1, 0);
    const taken = await take(500);
    expect([hashes(taken, 'new'), hashes(taken, 'old')]).toEqual([3, 497]);
  });

  it('is shared out among merchants by turns, each of which has its longest due first', async () => {
    await add('heap', 5000, 0, 1000);
    await db.database.query('update payouts.verifications set merchant_id = $1', [id('large')]);
    for (const small of ['one', 'two']) {
      await add(small, 20, 0, 1);
      await db.database.query('update payouts.verifications set merchant_id = $1 where hash like $2', [
        id(small),
        `${small}%`,
      ]);
    }
    const first = await work.take(CHAIN, 100);
    expect([first.work.length, first.more]).toEqual([80, true]);
    expect(['one', 'two', 'heap'].map((kind) => hashes(first.work, kind))).toEqual([20, 20, 40]);
    const rest = await work.take(CHAIN, 100);
    expect([hashes(rest.work, 'heap'), rest.more]).toEqual([80, true]);
  });

  it('without a response waits in a line of its own, until it has one', async () => {
    await add('silent', 2, 0, 1);
    const [one, other] = await take(2);
    const check = (payoutId: string, finding: string | null) => ({ payoutId, delayMs: 0, finding });
    await work.putBack([check(one!.payoutId, null), check(other!.payoutId, 'not_found')]);
    expect((await take(10)).map(({ payoutId }) => payoutId)).toEqual([other!.payoutId]);
    const [again] = (await work.take(CHAIN, 10, 'silent')).work;
    expect(again).toMatchObject({ payoutId: one!.payoutId, unanswered: 1 });
    await work.putBack([check(one!.payoutId, null)]);
    expect((await work.take(CHAIN, 10, 'silent')).work[0]).toMatchObject({ unanswered: 2 });
    await work.putBack([check(one!.payoutId, 'confirming')]);
    expect((await take(10))[0]).toMatchObject({ payoutId: one!.payoutId, unanswered: 0 });
  });

  it('keeps the first look after the window until another says something else', async () => {
    await add('closing', 1, 0, 1);
    const look = async (finding: string | null, closing?: { finding: string; head: number }) => {
      const [taken] = [...(await take(1)), ...(await work.take(CHAIN, 1, 'silent')).work];
      await work.putBack([
        { payoutId: taken!.payoutId, delayMs: 0, finding, ...(closing === undefined ? {} : { closing }) },
      ]);
      return taken!.closing;
    };
    expect(await look('not_found', { finding: 'not_found', head: 7 })).toBeNull();
    const first = await look('not_found', { finding: 'not_found', head: 9 });
    expect(first).toMatchObject({ finding: 'not_found', head: 7 });
    expect(await look(null)).toEqual(first);
    expect(await look('reverted', { finding: 'reverted', head: 11 })).toEqual(first);
    expect(await look(null)).toMatchObject({ finding: 'reverted', head: 11 });
  });

  it('comes with the wallet and with the logs that confirmed others', async () => {
    await add('paid', 1, 0, 1);
    await db.database.query('insert into payouts.wallets values ($1, $2)', [id('user'), '0xW']);
    const insert = 'insert into payouts.used_transfers values ($1, $2, $3, $4)';
    const [{ payout_id: own }] = (await db.database.query<{ payout_id: string }>(
      'select payout_id from payouts.verifications',
    )) as [{ payout_id: string }];
    await db.database.query(insert, [CHAIN, 'paid1', 0, id('other')]);
    await db.database.query(insert, [CHAIN, 'paid1', 1, own]);
    await db.database.query(insert, [CHAIN + 1, 'paid1', 2, id('other')]);
    await db.database.query(insert, [CHAIN, 'paid2', 3, id('other')]);
    const [taken] = await take(1);
    expect(taken).toMatchObject({ wallet: '0xW', usedLogs: new Set([0]), amountMinor: 1n });
  });
});

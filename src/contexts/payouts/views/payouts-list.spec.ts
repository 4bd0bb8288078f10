import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ExplainedReadModels, type ListCost } from '../../../../test/support/database/explained-lists.js';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { deriveId } from '../../../kernel/ids.js';
import { decodeCursor } from '../../../platform/postgres/page-cursor.js';
import { ListedPayoutRow, PayoutsList, type PayoutsFilter, type PayoutsPage } from './payouts-list.js';
import { chainConfig } from '../../../platform/config/config.js';

const ROWS = 60_000;
const MERCHANTS = 20;
const PAGE = 100;
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);

const merchant = (n: number): string => deriveId('plans', `merchant ${n}`);
/** As in the rows below: users of a merchant, of which the first has a tenth of its payouts. */
const user = (m: number, n: number): string => deriveId('plans', `user ${m} ${n}`);
const hashOf = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;

describe('payouts for operators, 60,000 of 20 merchants', () => {
  let readModels: ExplainedReadModels;
  let list: PayoutsList;

  afterAll(() => readModels.onApplicationShutdown());
  const db = onTestDatabase();

  beforeAll(async () => {
    readModels = new ExplainedReadModels(db, [ListedPayoutRow]);
    list = new PayoutsList(readModels, chainConfig({}));
    const users = Array.from({ length: MERCHANTS }, (_, m) =>
      Array.from({ length: 10 }, (_, n) => user(m, n)),
    );
    // One in a hundred is expired, the newest thousand are pending: the rare ones of each status are far apart.
    await db.pool.query(
      `insert into payouts.payouts
         (id, merchant_id, user_id, status, created_at, amount_minor, transaction_hash, body)
       select md5('plans' || n)::uuid, ($1::uuid[])[n % $3 + 1], ($2::uuid[])[(n % $3) * 10 + (n / $3) % 10 + 1],
         case when n >= $4 - 1000 then 0 when n % 101 = 0 then 2 else 1 end,
         $5::timestamptz + n * interval '4 seconds', 1, '0x' || lpad(to_hex(n), 64, '0'),
         '{"id":"' || md5('plans' || n)::uuid || '","number":' || n || '}'
       from generate_series(0, $4::int - 1) n`,
      [
        Array.from({ length: MERCHANTS }, (_, m) => merchant(m)),
        users.flat(),
        MERCHANTS,
        ROWS,
        new Date(START),
      ],
    );
    await db.pool.query(
      `insert into payouts.verifications
         (payout_id, user_id, merchant_id, chain_id, hash, amount_minor, created_at, expires_at)
       select id, user_id, merchant_id, 31337, transaction_hash, 1, created_at, now() + interval '1 day'
       from payouts.payouts where status = 0`,
    );
    await db.pool.query(
      `insert into work.items (kind, key, due_at, state)
       select 'payouts.verification', payout_id,
         now() + case when row_number() over (order by payout_id) <= 7 then interval '-2 minutes' else '1 hour' end,
         json_build_object('due', now() + interval '1 hour')
       from payouts.verifications`,
    );
    await db.pool.query('vacuum analyze payouts.payouts, payouts.verifications, work.items');
  });

  const page = (
    filter: PayoutsFilter,
    merchants: PayoutsPage['merchants'] = null,
    after?: PayoutsPage['page']['after'],
  ) => list.page({ merchants, filter, page: { pageSize: PAGE, after } });
  const numbers = (payouts: readonly { json: string }[]): number[] =>
    payouts.map(({ json }) => (JSON.parse(json) as { number: number }).number);
  /** The newest of the rows that `holds` for their numbers, from the specification. */
  const expected = (holds: (n: number) => boolean, below = ROWS): number[] => {
    const found: number[] = [];
    for (let n = below - 1; n >= 0 && found.length < PAGE; n -= 1) if (holds(n)) found.push(n);
    return found;
  };
  const statusOf = (n: number): string =>
    n >= ROWS - 1000 ? 'pending' : n % 101 === 0 ? 'expired' : 'received';
  const userOf = (n: number): string => user(n % MERCHANTS, Math.floor(n / MERCHANTS) % 10);
  const dayOf = (n: number): string => new Date(START + n * 4000).toISOString().slice(0, 10);

  const LISTS: readonly [string, PayoutsFilter, readonly string[] | null, (n: number) => boolean][] = [
    ['of all merchants', {}, null, () => true],
    ['of all merchants in a rare status', { status: 'expired' }, null, (n) => statusOf(n) === 'expired'],
    ['of all merchants up to a day', { createdTo: '2026-01-01' }, null, (n) => n < DAY_MS / 4000],
    ['of one merchant', {}, [merchant(3)], (n) => n % MERCHANTS === 3],
    [
      'of the merchants of a confined key, in a status',
      { status: 'received' },
      [merchant(3), merchant(4)],
      (n) => [3, 4].includes(n % MERCHANTS) && statusOf(n) === 'received',
    ],
    ['of a user', { userId: user(5, 2) }, null, (n) => userOf(n) === user(5, 2)],
    ['of a user of another merchant', { userId: user(5, 2) }, [merchant(6)], () => false],
    [
      'of a user on one day',
      { userId: user(5, 2), createdFrom: '2026-01-02', createdTo: '2026-01-02' },
      [merchant(5)],
      (n) => userOf(n) === user(5, 2) && dayOf(n) === '2026-01-02',
    ],
    [
      'of a transaction',
      { transactionHash: ` ${hashOf(17_000).toUpperCase().replace('0X', '0x')}` },
      null,
      (n) => n === 17_000,
    ],
    ['of a transaction of another merchant', { transactionHash: hashOf(17_000) }, [merchant(1)], () => false],
  ];

  it.each(LISTS)('a list %s is what its filters say, newest first', async (_, filter, merchants, holds) => {
    const first = await page(filter, merchants);
    expect(numbers(first.payouts)).toEqual(expected(holds));
    if (first.next_cursor === null) return;
    const second = await page(filter, merchants, decodeCursor(first.next_cursor)!);
    expect(numbers(second.payouts)).toEqual(expected(holds, numbers(first.payouts).at(-1)!));
  });

  it.each(LISTS)('a list %s reads a few rows for each of its page', async (_, filter, merchants) => {
    await page(filter, merchants);
    const cost: ListCost = await readModels.lastCost();
    expect(
      cost.scans.filter((scan) => !/^(Index|Index Only|Bitmap Heap|Bitmap Index) Scan/.test(scan)),
    ).toEqual([]);
    const ranges = (filter.status === undefined ? 3 : 1) * (filter.userId ? 1 : (merchants?.length ?? 1));
    // PostgreSQL may sort what it takes for few rows of a user; otherwise each range gives a page, which is read by id.
    const ofUser = filter.userId !== undefined && merchants !== null ? 1000 : 0;
    expect(cost.read).toBeLessThanOrEqual((ranges + 1) * (PAGE + 1) + ofUser);
    expect(cost.sorted).toBeLessThanOrEqual(ranges * (PAGE + 1) + ofUser);
  });

  it('a list of overdue payouts has those whose check is late, and reads pending ones alone', async () => {
    const { payouts, next_cursor } = await page({ isOverdue: true });
    expect([payouts.length, next_cursor]).toEqual([7, null]);
    const late = await db.database.query<{ id: string }>(
      "select key as id from work.items where kind = 'payouts.verification' and due_at < now()",
    );
    expect(payouts.map(({ id }) => id).sort()).toEqual(late.map(({ id }) => id).sort());
    const cost = await readModels.lastCost();
    expect(cost.scans).not.toContain('Seq Scan: payouts');
    expect(cost.read).toBeLessThanOrEqual(2 * 1000 + 100);
    expect((await page({ isOverdue: true, status: 'received' })).payouts).toEqual([]);
  });

  it('finds one payout of any merchant by its id', async () => {
    const [{ id } = { id: '' }] = (await page({ transactionHash: hashOf(5) })).payouts;
    expect(await list.find(id)).toMatchObject({ id, merchantId: merchant(5) });
    expect(await list.find(merchant(1))).toBeNull();
  });
});

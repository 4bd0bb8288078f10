import { beforeAll, describe, expect, it } from '@jest/globals';
import { ExplainedLists, type ListCost } from '../../../../test/support/database/explained-lists.js';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { deriveId } from '../../../kernel/ids.js';
import { decodeCursor, type PagePlace } from '../../../platform/postgres/page-cursor.js';
import { PayoutsView, type PayoutFilter } from './payouts.view.js';
import { chainConfig } from '../../../platform/config/config.js';
import { OverduePayouts } from '../verification/overdue-payouts.view.js';

type PayoutsFilter = Omit<PayoutFilter, 'page_size' | 'page_cursor'>;

const ROWS = 60_000;
const MERCHANTS = 20;
const PAGE = 100;
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);

const merchant = (n: number): string => deriveId('plans', `merchant ${n}`);
/** The users of a merchant, of which the first has a tenth of its payouts. */
const user = (m: number, n: number): string => deriveId('plans', `user ${m} ${n}`);
const hashOf = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;

describe('the operator list of 60,000 payouts of 20 merchants', () => {
  let lists: ExplainedLists;
  let list: PayoutsView;

  const db = onTestDatabase();

  beforeAll(async () => {
    lists = new ExplainedLists(db);
    list = new PayoutsView(lists.database);
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

  const page = (filter: PayoutsFilter, merchants: readonly string[] | null = null, page_cursor?: PagePlace) =>
    list.rows(merchants, { ...filter, page_size: PAGE, page_cursor });
  const numbers = (payouts: readonly { body: string }[]): number[] =>
    payouts.map(({ body }) => (JSON.parse(body) as { number: number }).number);
  /** Returns the newest of the rows whose numbers satisfy `holds`. */
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
    ['of all merchants up to a day', { created_to: '2026-01-01' }, null, (n) => n < DAY_MS / 4000],
    ['of one merchant', {}, [merchant(3)], (n) => n % MERCHANTS === 3],
    [
      'of two merchants in one status',
      { status: 'received' },
      [merchant(3), merchant(4)],
      (n) => [3, 4].includes(n % MERCHANTS) && statusOf(n) === 'received',
    ],
    ['of a user', { user_id: user(5, 2) }, null, (n) => userOf(n) === user(5, 2)],
    ['of a user of another merchant (none)', { user_id: user(5, 2) }, [merchant(6)], () => false],
    [
      'of a user on one day',
      { user_id: user(5, 2), created_from: '2026-01-02', created_to: '2026-01-02' },
      [merchant(5)],
      (n) => userOf(n) === user(5, 2) && dayOf(n) === '2026-01-02',
    ],
    [
      'of a transaction',
      { transaction_hash: ` ${hashOf(17_000).toUpperCase().replace('0X', '0x')}` },
      null,
      (n) => n === 17_000,
    ],
    [
      'of a transaction of another merchant (none)',
      { transaction_hash: hashOf(17_000) },
      [merchant(1)],
      () => false,
    ],
  ];

  it.each(LISTS)(
    'has only the payouts %s, newest first, and reads few rows by an index',
    async (_, filter, merchants, holds) => {
      await lists.cost();
      const first = await page(filter, merchants);
      const cost: ListCost = await lists.cost();
      expect(numbers(first.rows)).toEqual(expected(holds));
      expect(
        cost.scans.filter((scan) => !/^(Index|Index Only|Bitmap Heap|Bitmap Index) Scan/.test(scan)),
      ).toEqual([]);
      const ranges = (filter.status === undefined ? 3 : 1) * (filter.user_id ? 1 : (merchants?.length ?? 1));
      // PostgreSQL may sort what it takes for few rows of a user; otherwise each range gives a page, which is read by id.
      const ofUser = filter.user_id !== undefined && merchants !== null ? 1000 : 0;
      expect(cost.read).toBeLessThanOrEqual((ranges + 1) * (PAGE + 1) + ofUser);
      expect(cost.sorted).toBeLessThanOrEqual(ranges * (PAGE + 1) + ofUser);
      if (first.next_cursor === null) return;
      const second = await page(filter, merchants, decodeCursor(first.next_cursor)!);
      expect(numbers(second.rows)).toEqual(expected(holds, numbers(first.rows).at(-1)!));
    },
  );

  it('lists only pending payouts with a late check as overdue, and reads only pending payouts', async () => {
    await lists.cost();
    const overdue = new OverduePayouts(lists.database, chainConfig({}));
    const { rows: payouts, next_cursor } = await overdue.rows(null, { page_size: PAGE });
    const cost = await lists.cost();
    expect([payouts.length, next_cursor]).toEqual([7, null]);
    const late = await db.database.query<{ id: string }>(
      "select key as id from work.items where kind = 'payouts.verification' and due_at < now()",
    );
    expect(payouts.map(({ id }) => id).sort()).toEqual(late.map(({ id }) => id).sort());
    expect(cost.scans).not.toContain('Seq Scan: payouts');
    expect(cost.read).toBeLessThanOrEqual(2 * 1000 + 100);
    const received = { status: 'received', page_size: PAGE } as const;
    expect((await overdue.rows(null, received)).rows).toEqual([]);
  });

  it('finds one payout of any merchant by its id', async () => {
    const [{ id } = { id: '' }] = (await page({ transaction_hash: hashOf(5) })).rows;
    expect(await list.find(null, id)).toMatchObject({ id, merchant_id: merchant(5) });
    expect(await list.find(null, merchant(1))).toBeNull();
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ExplainedLists } from '../../../../test/support/database/explained-lists.js';
import { orderFacts } from '../../../../test/support/exchange/order-fixtures.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { deriveId } from '../../../kernel/ids.js';
import type { EventCodec } from '../../../platform/event-store/event-codec.js';
import { decodeCursor, type PagePlace } from '../../../platform/postgres/page-cursor.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { ORDER_STATUSES, userHash } from './order-events.js';
import { OrdersView, type OrderFilter } from './orders.view.js';

type OrdersListFilter = Omit<OrderFilter, 'page_size' | 'page_cursor'>;

const ROWS = 40_000;
/** Each merchant has two keys, and each key ten users with the same names. */
const KEYS = 40;
const MERCHANTS = 20;
const USERS = 10;
const PAGE = 100;
const START = Date.UTC(2026, 0, 1);
const ALL = { uuid: null, phoneNumber: null, limit: 20 } as const;

const HASH = new KeyedHash(Buffer.alloc(32));
/** A codec for texts in clear; other specs test the unsealing. */
const CODEC = { open: async (events: readonly never[]) => events } as unknown as EventCodec;

const merchant = (n: number): string => deriveId('orders', `merchant ${n % MERCHANTS}`);
const key = (n: number): string => deriveId('orders', `key ${n % KEYS}`);
const userOf = (n: number): string => `user ${Math.floor(n / KEYS) % USERS}`;
const refundableOf = (n: number): boolean => n % 997 === 0;
/** The newest thousand are open; of the others one in a hundred has failed. */
const statusOf = (n: number): (typeof ORDER_STATUSES)[number] =>
  n >= ROWS - 1000 ? 'pending' : n % 101 === 0 ? 'failed' : 'completed';

describe('the operator list of 40,000 orders under 40 keys', () => {
  let db: TestDatabase;
  let lists: ExplainedLists;
  let list: OrdersView;

  beforeAll(async () => {
    db = await testDatabase();
    lists = new ExplainedLists(db);
    list = new OrdersView(lists.database, HASH, CODEC, {} as never);
    const keys = Array.from({ length: KEYS }, (_, n) => key(n));
    const users = Array.from({ length: USERS }, (_, u) => `user ${u}`);
    const hashes = keys.flatMap((id) => users.map((user) => userHash(HASH, id, user)));
    const created = { type: 'order.created.v1', data: orderFacts({ user_id: 'someone' }) };
    await db.pool.query(
      `insert into exchange.orders (id, key_id, merchant_id, user_hash, withdraw_address, status, created_at, refundable,
         shortfall, search_keys, revision, events, body)
       select md5('orders' || n)::uuid, ($1::uuid[])[n % $3 + 1], ($2::uuid[])[n % $4 + 1],
         ($5::text[])[(n % $3) * $6 + (n / $3) % $6 + 1], 'x',
         case when n >= $7 - 1000 then 0 when n % 101 = 0 then 6 else 3 end,
         $8::timestamptz + n * interval '1 second', case when n % 997 = 0 then 1 else 0 end, 0,
         array['address ' || n % 10000], 0,
         '[' || replace($9, $10, md5('orders' || n)::uuid::text) || ']', '{}'
       from generate_series(0, $7::int - 1) n`,
      [
        ...[keys, Array.from({ length: MERCHANTS }, (_, n) => merchant(n)), KEYS, MERCHANTS, hashes, USERS],
        ...[ROWS, new Date(START), JSON.stringify(created), created.data.order_id],
      ],
    );
    await db.pool.query('vacuum analyze exchange.orders');
  });
  afterAll(async () => {
    await db?.drop();
  });

  const page = (
    filter: OrdersListFilter,
    merchants: readonly string[] | null = null,
    page_cursor?: PagePlace,
  ) => list.rows(merchants, { ...filter, page_size: PAGE, page_cursor }, true);
  const idOf = async (numbers: readonly number[]): Promise<readonly string[]> => {
    const rows = await db.database.query<{ id: string }>(
      `select md5('orders' || n)::uuid as id from unnest($1::int[]) with ordinality as listed (n, place) order by place`,
      [numbers],
    );
    return rows.map(({ id }) => id);
  };
  const expected = (holds: (n: number) => boolean, skipped = 0): number[] => {
    const found: number[] = [];
    for (let n = ROWS - 1; n >= 0 && found.length < skipped + PAGE; n -= 1) if (holds(n)) found.push(n);
    return found.slice(skipped);
  };

  const LISTS: readonly [string, OrdersListFilter, readonly string[] | null, (n: number) => boolean][] = [
    ['of all merchants', {}, null, () => true],
    ['in a rare status', { status: 'failed' }, null, (n) => statusOf(n) === 'failed'],
    ['of one merchant', {}, [merchant(3)], (n) => n % MERCHANTS === 3],
    ['of one key', { key_id: key(7) }, null, (n) => n % KEYS === 7],
    ['of a key of another merchant', { key_id: key(7) }, [merchant(8)], () => false],
    ['of a user, under any key', { user_id: 'user 4' }, null, (n) => userOf(n) === 'user 4'],
    [
      'of a user of one merchant',
      { user_id: 'user 4', status: 'completed' },
      [merchant(3)],
      (n) => userOf(n) === 'user 4' && n % MERCHANTS === 3 && statusOf(n) === 'completed',
    ],
    ['of an unknown user', { user_id: 'unknown' }, null, () => false],
    ['with an amount to refund', { refundable: 'true' }, null, refundableOf],
    [
      'with an amount to refund, of two merchants',
      { refundable: 'true', status: 'completed' },
      [merchant(3), merchant(4)],
      (n) => refundableOf(n) && [3, 4].includes(n % MERCHANTS) && statusOf(n) === 'completed',
    ],
  ];

  it.each(LISTS)('lists only the orders %s, newest first, and reads only indexes', async (...list) => {
    const [, filter, merchants, holds] = list;
    await lists.cost();
    const first = await page(filter, merchants);
    const { read, scans } = await lists.cost();
    expect(scans.filter((scan) => scan.startsWith('Seq Scan'))).toEqual([]);
    // A user has 100 orders under each key, and a key 1,000. Any other list reads one page for each range.
    const ranges = (filter.status === undefined ? ORDER_STATUSES.length : 1) * (merchants?.length ?? 1);
    const keysOfUser = filter.user_id === undefined ? 0 : merchants === null ? KEYS : KEYS / MERCHANTS;
    const strange = filter.key_id !== undefined && merchants !== null ? ROWS / KEYS : 0;
    expect(read).toBeLessThanOrEqual((ranges + 1) * (PAGE + 1) + keysOfUser * 100 + strange);
    expect(first.orders.map(({ id }) => id)).toEqual(await idOf(expected(holds)));
    if (first.next_cursor === null) return;
    const second = await page(filter, merchants, decodeCursor(first.next_cursor)!);
    expect(second.orders.map(({ id }) => id)).toEqual(await idOf(expected(holds, PAGE)));
  });

  it('finds orders by deposit address or transaction hash through an index', async () => {
    const numbers = [30_007, 20_007, 10_007, 7];
    const found = async (merchants: readonly string[] | null) =>
      (await list.search({ text: 'address 7', merchants, ...ALL })).map(({ id }) => id);
    expect(await found(null)).toEqual(await idOf(numbers));
    expect(await found([merchant(3)])).toEqual(await idOf(numbers.filter((n) => n % MERCHANTS === 3)));
    expect((await lists.cost()).scans.filter((scan) => scan.startsWith('Seq Scan'))).toEqual([]);
    expect(await list.search({ text: 'address', merchants: null, ...ALL })).toEqual([]);
  });
});

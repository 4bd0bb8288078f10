import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { deriveId } from '../../../kernel/ids.js';
import { decodeCursor, encodeCursor } from '../../../platform/postgres/page-cursor.js';
import { STATUS } from './payout-events.js';
import { PAGE_BYTES } from '../../../platform/postgres/list-page.js';
import { PayoutsView, type PayoutFilter } from './payouts.view.js';

const [MERCHANT, OTHER] = [deriveId('list', 'merchant'), deriveId('list', 'other')];
const USERS = [0, 1, 2].map((user) => deriveId('list', `user ${user}`));
const HOUR = 3_600_000;
const START = Date.UTC(2026, 5, 30);

interface Row {
  readonly id: string;
  readonly merchant: string;
  readonly user: string;
  readonly status: keyof typeof STATUS;
  readonly createdAt: Date;
}

// Few times and many rows, so that the order depends on ids; some times are at the ends of days.
const row: fc.Arbitrary<Row> = fc.record({
  id: fc.uuid(),
  merchant: fc.constantFrom(MERCHANT, MERCHANT, MERCHANT, OTHER),
  user: fc.constantFrom(...USERS),
  status: fc.constantFrom('pending', 'received', 'expired'),
  createdAt: fc
    .constantFrom(0, 1, 12 * HOUR, 24 * HOUR - 1, 24 * HOUR, 50 * HOUR)
    .map((ms) => new Date(START + ms)),
});
const day = fc.constantFrom('2026-06-29', '2026-06-30', '2026-07-01', '2026-07-02', '2026-07-03');
const sometimes = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { freq: 2, nil: undefined });
const filter = fc
  .record({
    user_id: sometimes(fc.constantFrom(...USERS)),
    status: sometimes(fc.constantFrom('pending' as const, 'received' as const, 'expired' as const)),
    created_from: sometimes(day),
    created_to: sometimes(day),
    page_size: fc.constantFrom(1, 2, 3, 7, 1000),
  })
  .map((all) => JSON.parse(JSON.stringify(all)) as PayoutFilter);

/** Returns the expected list, by the specification. */
function expected(rows: readonly Row[], filter: PayoutFilter): string[] {
  return rows
    .filter((each) => {
      const date = each.createdAt.toISOString().slice(0, 10);
      return (
        each.merchant === MERCHANT &&
        (filter.user_id === undefined || each.user === filter.user_id) &&
        (filter.status === undefined || each.status === filter.status) &&
        (filter.created_from === undefined || date >= filter.created_from) &&
        (filter.created_to === undefined || date <= filter.created_to)
      );
    })
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
}

describe('the list of payouts', () => {
  const db = onTestDatabase();

  const fill = async (rows: readonly Row[]): Promise<void> => {
    await db.database.query('truncate payouts.payouts');
    await db.database.query(
      `insert into payouts.payouts (id, merchant_id, user_id, status, created_at, amount_minor, transaction_hash, body)
       select id, merchant, "user", status, created_at, 1, '', to_json(id)
       from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::timestamptz[])
         as row (id, merchant, "user", status, created_at)`,
      [
        rows.map(({ id }) => id),
        rows.map(({ merchant }) => merchant),
        rows.map(({ user }) => user),
        rows.map(({ status }) => STATUS[status]),
        rows.map(({ createdAt }) => createdAt.toISOString()),
      ],
    );
  };
  const page = async (filter: PayoutFilter): Promise<{ payouts: string[]; next_cursor: string | null }> =>
    JSON.parse(await new PayoutsView(db.database).page(MERCHANT, filter)) as {
      payouts: string[];
      next_cursor: string | null;
    };

  it('returns matching payouts in full pages, for random rows, filters and page sizes', async () => {
    const rows = fc.uniqueArray(row, { minLength: 20, maxLength: 40, selector: ({ id }) => id });
    await fc.assert(
      fc.asyncProperty(rows, fc.array(filter, { minLength: 4, maxLength: 6 }), async (all, filters) => {
        await fill(all);
        for (const filter of filters) {
          const whole = expected(all, filter);
          const seen: string[] = [];
          for (let next: PayoutFilter | null = filter; next !== null;) {
            const { payouts, next_cursor } = await page(next);
            expect(payouts).toEqual(whole.slice(seen.length, seen.length + filter.page_size));
            seen.push(...payouts);
            next = next_cursor === null ? null : { ...filter, page_cursor: decodeCursor(next_cursor)! };
          }
          expect(seen).toEqual(whole);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('ends a page after 4 MiB of payouts and continues on the next page', async () => {
    const all = Array.from({ length: 600 }, (_, n): Row => ({
      id: deriveId('list', `large ${n}`),
      merchant: MERCHANT,
      user: USERS[0]!,
      status: n % 2 ? 'pending' : 'received',
      createdAt: new Date(START + n),
    }));
    await fill(all);
    await db.database.query(`update payouts.payouts set body = body::text || repeat(' ', 16000)`);
    const sizes: number[] = [];
    const seen: string[] = [];
    for (let next: PayoutFilter | null = { page_size: 1000 }; next !== null;) {
      const { payouts, next_cursor } = await page(next);
      seen.push(...payouts);
      sizes.push(payouts.length);
      next = next_cursor === null ? null : { ...next, page_cursor: decodeCursor(next_cursor)! };
    }
    const perPage = Math.ceil(PAGE_BYTES / 16_038);
    expect(sizes).toEqual([perPage, perPage, 600 - 2 * perPage]);
    expect(seen).toEqual(expected(all, { page_size: 1000 }));
    // The last row fills the page to the byte, and is the last of the list.
    await fill(all.slice(0, perPage));
    await db.database.query(`update payouts.payouts set body = body::text || repeat(' ', 16000)`);
    expect((await page({ page_size: 1000 })).next_cursor).toBeNull();
    // A row that is larger than a page is a page.
    await fill(all.slice(0, 2));
    await db.database.query(`update payouts.payouts set body = body::text || repeat(' ', $1::int)`, [
      PAGE_BYTES,
    ]);
    expect((await page({ page_size: 1000 })).payouts).toHaveLength(1);
  });

  it('returns an empty page for a cursor at the greatest possible time and id', async () => {
    await fill([]);
    const last = new Date('9999-12-31T23:59:59.999Z');
    const id = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    const page_cursor = decodeCursor(encodeCursor(last, id))!;
    expect(await page({ page_size: 1, page_cursor })).toEqual({ payouts: [], next_cursor: null });
    expect(decodeCursor(encodeCursor(new Date(last.getTime() + 1), id))).toBeNull();
  });
});

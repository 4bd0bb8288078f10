import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { insertDeliveries, insertEndpoint } from '../../../../test/support/webhooks/webhook-rows.js';
import { DAY_MS } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { decodeCursor } from '../../../platform/postgres/page-cursor.js';
import { DELIVERY_STATUSES } from './retry.js';
import { DeliveriesView } from './deliveries.view.js';
import { READ_AT_ONCE, type DeliveriesFilter as Filter } from './delivery-page.view.js';

const TYPES = ['payout.received', 'payout.failed'] as const;
const START = Date.UTC(2026, 5, 30);
/** The endpoints by merchant: one merchant has a deleted one, one has none. */
const [ONE, TWO, NONE] = [newId(), newId(), newId()];
const ENDPOINTS = [
  { id: newId(), merchant: ONE, status: 'enabled' },
  { id: newId(), merchant: ONE, status: 'disabled' },
  { id: newId(), merchant: ONE, status: 'deleted' },
  { id: newId(), merchant: TWO, status: 'enabled' },
] as const;

interface DeliveriesFilter extends Filter {
  readonly merchants: readonly string[] | null;
}

interface Row {
  readonly id: string;
  readonly endpoint: number;
  readonly status: (typeof DELIVERY_STATUSES)[number];
  readonly type: (typeof TYPES)[number];
  readonly at: number;
  readonly isLeased?: boolean;
}

// Few times and many rows, so that the order depends on ids; some times are at the ends of days.
const row: fc.Arbitrary<Row> = fc.record({
  id: fc.uuid(),
  endpoint: fc.nat(ENDPOINTS.length - 1),
  status: fc.constantFrom(...DELIVERY_STATUSES),
  type: fc.constantFrom(...TYPES),
  at: fc.constantFrom(0, 1, 2, 500, 1000, DAY_MS - 1, DAY_MS).map((ms) => START + ms),
  isLeased: fc.boolean(),
});
const day = fc.constantFrom('2026-06-29', '2026-06-30', '2026-07-01', '2026-07-02');
const sometimes = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { freq: 2, nil: undefined });
const filter: fc.Arbitrary<DeliveriesFilter> = fc.record({
  merchants: fc.constantFrom(null, [ONE], [TWO], [ONE, TWO], [NONE], []),
  endpoint_id: sometimes(fc.constantFrom(...ENDPOINTS.map(({ id }) => id))),
  status: sometimes(fc.constantFrom(...DELIVERY_STATUSES)),
  type: sometimes(fc.constantFrom(...TYPES)),
  from: sometimes(fc.constantFrom(START + 1, START + 500).map((ms) => ({ at: new Date(ms) }))),
  to: sometimes(fc.constantFrom(START + 2, START + 1000).map((ms) => ({ end: new Date(ms) }))),
  created_from: sometimes(day),
  created_to: sometimes(day),
  page_size: fc.constantFrom(1, 2, 3, 1000),
});

function expected(rows: readonly Row[], filtered: DeliveriesFilter): string[] {
  const { merchants, endpoint_id, status, type, from, to, created_from, created_to } = filtered;
  return rows
    .filter((each) => {
      const { id, merchant } = ENDPOINTS[each.endpoint]!;
      const date = new Date(each.at).toISOString().slice(0, 10);
      return (
        (merchants === null || merchants.includes(merchant)) &&
        (endpoint_id === undefined || endpoint_id === id) &&
        (status === undefined || status === each.status) &&
        (type === undefined || type === each.type) &&
        (from === undefined || each.at >= from.at.getTime()) &&
        (to === undefined || each.at < to.end.getTime()) &&
        (created_from === undefined || date >= created_from) &&
        (created_to === undefined || date <= created_to)
      );
    })
    .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
}

describe('the operator list of deliveries', () => {
  const db = onTestDatabase();

  beforeEach(async () => {
    await db.database.query('truncate webhooks.deliveries, webhooks.endpoint_snapshots');
    for (const each of ENDPOINTS) await insertEndpoint(db.database, each);
  });

  const insert = (rows: readonly Row[]): Promise<unknown> =>
    db.database.query(
      `insert into webhooks.deliveries (delivery_id, endpoint_id, merchant_id, type, body, is_test, state, created_at,
         leased_by)
       select id, endpoint, merchant, type, '{}', false, status, created_at,
         case when status = 'pending' and leased then gen_random_uuid() end
       from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::bool[])
         as created (id, endpoint, merchant, type, status, created_at, leased)`,
      [
        rows.map(({ id }) => id),
        rows.map(({ endpoint }) => ENDPOINTS[endpoint]!.id),
        rows.map(({ endpoint }) => ENDPOINTS[endpoint]!.merchant),
        rows.map(({ type }) => type),
        rows.map(({ status }) => status),
        rows.map(({ at }) => new Date(at).toISOString()),
        rows.map(({ isLeased = false }) => isLeased),
      ],
    );

  /** `between` runs after each page. */
  async function walk(
    filtered: DeliveriesFilter,
    between = async (): Promise<void> => undefined,
  ): Promise<{ ids: string[]; pages: number }> {
    const view = new DeliveriesView(db.database);
    const ids: string[] = [];
    let pages = 0;
    for (let next: DeliveriesFilter | null = filtered; next !== null;) {
      const { deliveries, next_cursor } = await view.list(next.merchants, next);
      expect(deliveries.length).toBeLessThanOrEqual(filtered.page_size);
      ids.push(...deliveries.map(({ id }) => id));
      pages += 1;
      await between();
      next = next_cursor === null ? null : { ...filtered, page_cursor: decodeCursor(next_cursor)! };
    }
    return { ids, pages };
  }

  it('matches the filter, newest first, for random rows, merchants, filters and page sizes', async () => {
    const rows = fc.uniqueArray(row, { minLength: 20, maxLength: 40, selector: ({ id }) => id });
    await fc.assert(
      fc.asyncProperty(rows, fc.array(filter, { minLength: 4, maxLength: 6 }), async (all, filters) => {
        await db.database.query('truncate webhooks.deliveries');
        await insert(all);
        for (const filtered of filters) expect((await walk(filtered)).ids).toEqual(expected(all, filtered));
      }),
      { numRuns: 25 },
    );
  });

  it('returns every existing row once while more rows are inserted between its pages', async () => {
    const rows = fc.uniqueArray(row, { minLength: 40, maxLength: 60, selector: ({ id }) => id });
    await fc.assert(
      fc.asyncProperty(rows, filter, async (all, filtered) => {
        const [before, meanwhile] = [all.slice(0, all.length / 2), all.slice(all.length / 2)];
        await db.database.query('truncate webhooks.deliveries');
        await insert(before);
        const coming = [...meanwhile];
        const paged = { ...filtered, page_size: Math.min(filtered.page_size, 3) };
        const { ids } = await walk(paged, async () => void (await insert(coming.splice(0, 2))));
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids).toEqual(expect.arrayContaining(expected(before, filtered)));
        expect(expected(all, filtered)).toEqual(expect.arrayContaining(ids));
      }),
      { numRuns: 30 },
    );
  });

  it('finds deliveries of a rare type on several pages, but unsent deliveries on a single page', async () => {
    await insertDeliveries(db.database, ENDPOINTS[0].id, 2 * READ_AT_ONCE + 10, {
      merchant_id: `'${ONE}'`,
      type: `case when n % ${READ_AT_ONCE} <= 1 then 'payout.failed' else 'payout.received' end`,
      state: `case n % ${READ_AT_ONCE} when 0 then 'exhausted' when 1 then 'dropped' else 'succeeded' end`,
      created_at: 'to_timestamp(n / 4)',
    });
    const rare = { type: TYPES[1], page_size: 100 } as const;
    for (const merchants of [null, [ONE]]) {
      const { ids, pages } = await walk({ ...rare, merchants });
      expect(ids).toHaveLength(6);
      expect(pages).toBeGreaterThan(1);
    }
    // Unsent deliveries have indexes, so that a page finds all of them.
    for (const merchants of [null, [ONE]])
      for (const [status, found] of [
        ['exhausted', 3],
        ['dropped', 3],
      ] as const) {
        const { ids, pages } = await walk({ status, page_size: 100, merchants });
        expect([status, ids.length, pages]).toEqual([status, found, 1]);
      }
  });

  it('is complete for a merchant who deleted more endpoints than a page can merge', async () => {
    await db.database.query(
      `insert into webhooks.endpoint_snapshots (endpoint_id, merchant_id, url, sealed_signing_secret, status, position)
       select gen_random_uuid(), $1, 'https://example.com', 'sealed', 'deleted', '1' from generate_series(1, 1200)`,
      [ONE],
    );
    const rows = [0, 1, 2, 3].map((endpoint): Row => ({
      id: newId(),
      endpoint,
      status: 'succeeded',
      type: TYPES[0],
      at: START + endpoint,
    }));
    await insert(rows);
    const { ids } = await walk({ merchants: [ONE], page_size: 2 });
    expect(ids).toEqual([rows[2]!.id, rows[1]!.id, rows[0]!.id]);
  });
});

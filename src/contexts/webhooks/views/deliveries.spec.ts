import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { newId } from '../../../kernel/ids.js';
import { decodeCursor } from '../../../platform/postgres/page-cursor.js';
import { DeliveriesView } from './deliveries.js';
import type { DeliveryFilter } from './delivery-page.js';
import { DELIVERY_STATUSES } from '../domain/retry.js';

const TYPES = ['payout.received', 'payout.failed'] as const;
const START = Date.UTC(2026, 5, 30);
const HOUR = 3_600_000;

interface Row {
  readonly id: string;
  readonly status: (typeof DELIVERY_STATUSES)[number];
  readonly type: (typeof TYPES)[number];
  readonly at: number;
  readonly leased: boolean;
}

// Few times and many rows, so that ids decide; some at the very edges of days.
const row: fc.Arbitrary<Row> = fc.record({
  id: fc.uuid(),
  status: fc.constantFrom(...DELIVERY_STATUSES),
  type: fc.constantFrom(...TYPES),
  at: fc.constantFrom(0, 1, 24 * HOUR - 1, 24 * HOUR, 50 * HOUR).map((ms) => START + ms),
  leased: fc.boolean(),
});
const day = fc.constantFrom('2026-06-29', '2026-06-30', '2026-07-01', '2026-07-02');
const sometimes = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { freq: 2, nil: undefined });
const filter = fc
  .record({
    status: sometimes(fc.constantFrom(...DELIVERY_STATUSES)),
    type: sometimes(fc.constantFrom(...TYPES)),
    created_from: sometimes(day),
    created_to: sometimes(day),
    page_size: fc.constantFrom(1, 2, 3, 7, 1000),
  })
  .map((all) => JSON.parse(JSON.stringify(all)) as DeliveryFilter);

const db = onTestDatabase();
let endpoint: string;

beforeEach(() => {
  endpoint = newId();
});

async function insert(rows: readonly Row[]): Promise<void> {
  await db.database.query(
    `insert into webhooks.deliveries (delivery_id, endpoint_id, merchant_id, type, body, is_test, state, created_at,
       finished_at, leased_by)
     select id, $1, $1, type, '{}', false, status, created_at, case when status <> 'pending' then now() end,
       case when status = 'pending' and leased then gen_random_uuid() end
     from unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::bool[]) as created
       (id, type, status, created_at, leased) on conflict do nothing`,
    [
      endpoint,
      rows.map(({ id }) => id),
      rows.map(({ type }) => type),
      rows.map(({ status }) => status),
      rows.map(({ at }) => new Date(at).toISOString()),
      rows.map(({ leased }) => leased),
    ],
  );
}

/** What the list must hold, by its documentation. */
function expected(rows: readonly Row[], filtered: DeliveryFilter): string[] {
  return rows
    .filter(({ at, status, type }) => {
      const date = new Date(at).toISOString().slice(0, 10);
      return (
        (filtered.status === undefined || status === filtered.status) &&
        (filtered.type === undefined || type === filtered.type) &&
        (filtered.created_from === undefined || date >= filtered.created_from) &&
        (filtered.created_to === undefined || date <= filtered.created_to)
      );
    })
    .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
}

/** Ids of all pages; `between` runs after each. */
async function walk(
  filtered: DeliveryFilter,
  between = async (): Promise<void> => undefined,
): Promise<string[]> {
  const seen: string[] = [];
  for (let next: DeliveryFilter | null = filtered; next !== null;) {
    const { webhook_deliveries, next_cursor } = await new DeliveriesView(db.database).page(endpoint, next);
    expect(webhook_deliveries.length).toBeLessThanOrEqual(filtered.page_size);
    seen.push(...webhook_deliveries.map(({ id }) => id));
    await between();
    next = next_cursor === null ? null : { ...filtered, page_cursor: decodeCursor(next_cursor)! };
  }
  return seen;
}

describe('the list of deliveries', () => {
  it('shows every row once while others are inserted between its pages', async () => {
    const rows = fc.uniqueArray(row, { minLength: 20, maxLength: 30, selector: ({ id }) => id });
    await fc.assert(
      fc.asyncProperty(rows, rows, filter, async (before, meanwhile, filtered) => {
        await db.database.query('truncate webhooks.deliveries');
        await insert(before);
        const coming = meanwhile.filter(({ id }) => before.every((each) => each.id !== id));
        const seen = await walk({ ...filtered, page_size: Math.min(filtered.page_size, 3) }, async () => {
          await insert(coming.splice(0, 2));
        });
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual(expect.arrayContaining(expected(before, filtered)));
        expect(expected([...before, ...meanwhile], filtered)).toEqual(expect.arrayContaining(seen));
      }),
      { numRuns: 30 },
    );
  });
});

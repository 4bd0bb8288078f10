import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  cancelled,
  completed,
  deposit,
  erased,
  expired,
  facts as storyFacts,
  failed,
  historyOf,
  late,
  missing,
  paid,
  processing,
  received,
  recordedOf,
  refunded,
  stateAfter,
} from '../../../../test/support/exchange/order-fixtures.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { deriveId } from '../../../kernel/ids.js';
import type { EventCodec } from '../../../platform/event-store/event-codec.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { decodeCursor } from '../../../platform/postgres/page-cursor.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import type { ExistingOrder } from './order.js';
import {
  ORDER_STATUSES,
  type LaterOrderEvent,
  type OrderFacts,
  type OrderStatus,
  userHash,
} from './order-events.js';
import { orderRecord, type OrderRecord } from './order-record.js';
import { orderViews, OrdersView, type OrderFilter } from './orders.view.js';

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.drop());
beforeEach(() => db.database.query('truncate exchange.orders'));

const HOUR = 3_600_000;
const START = Date.UTC(2026, 5, 30);
const [KEY, OTHER] = [deriveId('key', 'one'), deriveId('key', 'other')];
const USERS = ['ann', 'bob', null];
const ADDRESSES = [
  '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
  '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV',
];

const HASH = new KeyedHash(Buffer.alloc(32));
const hashOf = (userId: string | null) => (userId === null ? null : userHash(HASH, KEY, userId));
/** A codec for texts in clear; other specs test the unsealing. */
const CODEC = { open: async (events: readonly never[]) => events } as unknown as EventCodec;

const facts = (id: string, more: Partial<OrderFacts> = {}): OrderFacts => ({
  ...storyFacts,
  order_id: id,
  key_id: KEY,
  merchant_id: deriveId('merchant'),
  withdraw_address: ADDRESSES[0]!,
  withdraw_address_memo: 'a "memo"',
  user_id: 'ann',
  user_hash: hashOf(more.user_id === undefined ? 'ann' : more.user_id),
  created_at: new Date(START).toISOString(),
  expires_at: new Date(START + HOUR).toISOString(),
  ...more,
});

const STEPS = {
  paid: () => paid,
  deposit: (n: number) => received(deposit(`${n}`, '100')),
  processing: () => processing('100', '0.5'),
  late: (n: number) => late(deposit(`${n}`, '100')),
  completed: () => completed(),
  cancelled: () => cancelled,
  expired: () => expired,
  failed: () => failed('provider_failed', '100'),
  refunded: () => refunded('100'),
  erased: () => erased,
};
type Ending = readonly (keyof typeof STEPS)[];
const ENDINGS: readonly Ending[] = [
  [],
  ['paid'],
  ['deposit'],
  ['deposit', 'processing', 'completed', 'late'],
  ['paid', 'deposit', 'processing', 'late', 'completed'],
  ['deposit', 'processing', 'failed'],
  ['deposit', 'processing', 'refunded'],
  ['cancelled', 'late', 'late'],
  ['cancelled', 'erased', 'late'],
  ['deposit', 'processing', 'completed', 'erased'],
  ['expired'],
];

function following({ order_id }: OrderFacts, ending: Ending): LaterOrderEvent[] {
  return ending.map((step, n) => {
    const { type, data } = STEPS[step](n);
    return { type, data: { ...data, order_id } } as LaterOrderEvent;
  });
}

interface Story {
  readonly creation: OrderFacts;
  readonly events: readonly RecordedEvent[];
  readonly after: ExistingOrder;
}

function story(creation: OrderFacts, ending: Ending): Story {
  const events = historyOf({ type: 'order.created.v1', data: creation }, ...following(creation, ending));
  return { creation, events: events.map(recordedOf), after: stateAfter(...events) };
}

// Few distinct times, so that ids decide the order; some at the edges of hours and days.
const stories: fc.Arbitrary<readonly Story[]> = fc.uniqueArray(
  fc
    .record({
      id: fc.uuid(),
      key_id: fc.constantFrom(KEY, KEY, KEY, OTHER),
      user_id: fc.constantFrom(...USERS),
      withdraw_address: fc.constantFrom(...ADDRESSES),
      at: fc.constantFrom(0, 1, HOUR - 1, HOUR, HOUR + 1, 12 * HOUR, 24 * HOUR - 1, 24 * HOUR, 50 * HOUR),
      ending: fc.constantFrom(...ENDINGS),
    })
    .map(({ id, at, ending, ...more }) =>
      story(facts(id, { ...more, created_at: new Date(START + at).toISOString() }), ending),
    ),
  { minLength: 15, maxLength: 40, selector: ({ creation }) => creation.order_id },
);

const sometimes = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { freq: 2, nil: undefined });
const instant = fc
  .constantFrom(-1, 0, 1, HOUR - 1, HOUR, HOUR + 2, 12 * HOUR, 24 * HOUR, 24 * HOUR + 1, 50 * HOUR, 51 * HOUR)
  .map((ms) => new Date(START + ms));
const filter: fc.Arbitrary<OrderFilter> = fc.record({
  from: instant,
  until: instant,
  user_id: sometimes(fc.constantFrom('ann', 'bob', 'nobody')),
  status: sometimes(fc.constantFrom<OrderStatus>(...ORDER_STATUSES)),
  withdraw_address: sometimes(fc.constantFrom(...ADDRESSES)),
  page_size: fc.constantFrom(1, 3, 7, 1000),
});

/** The expected list, by the specification. */
function expected(all: readonly Story[], requested: OrderFilter): OrderRecord[] {
  return all
    .filter(({ creation, after }) => {
      const at = Date.parse(creation.created_at);
      return (
        creation.key_id === KEY &&
        at >= requested.from!.getTime() &&
        at < requested.until!.getTime() &&
        (requested.user_id === undefined || after.user_id === requested.user_id) &&
        (requested.status === undefined || after.status === requested.status) &&
        (requested.withdraw_address === undefined || creation.withdraw_address === requested.withdraw_address)
      );
    })
    .map(({ after }) => orderRecord(after))
    .sort((a, b) => b.created_at.localeCompare(a.created_at) || (b.id < a.id ? -1 : 1));
}

interface Page {
  readonly total_count: number;
  readonly orders: OrderRecord[];
  readonly next_cursor: string | null;
}

const view = (): OrdersView => new OrdersView(db.database, HASH, CODEC, {} as never);

async function page(requested: OrderFilter): Promise<Page> {
  return JSON.parse(await view().page(KEY, requested)) as Page;
}

async function apply(events: readonly RecordedEvent[], schema?: string): Promise<void> {
  await db.database.transaction((tx) => orderViews.apply(events, tx, schema));
}

const rows = (): Promise<unknown[]> => db.database.query('select * from exchange.orders order by id');

describe('the list of orders', () => {
  it('returns the matching orders in full pages with their total, for random orders, filters and page sizes', async () => {
    const filters = fc.array(filter, { minLength: 5, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(stories, filters, async (all, requests) => {
        await db.database.query('truncate exchange.orders');
        await apply(all.flatMap(({ events }) => events));
        for (const requested of requests) {
          const whole = expected(all, requested);
          const seen: OrderRecord[] = [];
          for (let next: OrderFilter | null = requested; next !== null;) {
            const { total_count, orders, next_cursor } = await page(next);
            expect(total_count).toBe(whole.length);
            expect(orders).toEqual(whole.slice(seen.length, seen.length + requested.page_size));
            seen.push(...orders);
            next = next_cursor === null ? null : { ...requested, page_cursor: decodeCursor(next_cursor)! };
          }
          expect(seen).toEqual(whole);
        }
      }),
      { numRuns: 25 },
    );
  });

  it('is the same for any batches of events, even if every event is applied twice', async () => {
    await fc.assert(
      fc.asyncProperty(stories, fc.infiniteStream(fc.nat(6)), async (all, sizes) => {
        // The events of several orders interleave.
        const longest = Math.max(...all.map(({ events }) => events.length));
        const events = Array.from({ length: longest }, (_, n) =>
          all.flatMap((each) => each.events[n] ?? []),
        ).flat();
        await db.database.query('truncate exchange.orders');
        await apply(events);
        const once = await rows();
        await db.database.query('truncate exchange.orders');
        for (let at = 0; at < events.length;) {
          const end = at + 1 + sizes.next().value!;
          const batch = events.slice(Math.max(0, at - sizes.next().value!), end);
          await apply([...batch, ...batch]);
          at = end;
        }
        await apply(events);
        expect(await rows()).toEqual(once);
      }),
      { numRuns: 15 },
    );
  });
});

describe('the totals of orders', () => {
  it('count open orders, orders with money to refund and orders with a shortfall', async () => {
    const all = ENDINGS.map((ending, n) =>
      story(
        facts(deriveId('operator', String(n)), { created_at: new Date(START + n * HOUR).toISOString() }),
        ending,
      ),
    );
    await apply(all.flatMap(({ events }) => events));
    const { type, data } = missing(deposit('1', '100'));
    const lost = { type, data: { ...data, order_id: all[4]!.creation.order_id } } as LaterOrderEvent;
    await apply([recordedOf(lost, all[4]!.events.length)]);
    const totals = { pending: 2, paid: 1, processing: 0, refundable: 4, shortfall: 0 };
    expect(await view().totals()).toEqual(totals);
  });
});

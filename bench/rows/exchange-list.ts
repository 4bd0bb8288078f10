import { MIGRATIONS } from '../../src/composition.js';
import { orderPageQuery, OrdersView, type OrderFilter } from '../../src/contexts/exchange/views/orders.js';
import { bodyPage } from '../../src/platform/postgres/body-page.js';
import { Database } from '../../src/platform/postgres/database.js';
import { compare } from '../harness/compare.js';
import { alternate, timed, type Variant } from '../harness/measure.js';
import type { Row, RowContext, RowOutcome } from '../harness/row.js';
import { EventCodec } from '../../src/platform/event-store/event-codec.js';
import { EventRegistry } from '../../src/platform/event-store/event-registry.js';
import { seedOrders, USER_HASHES, type SeededOrders } from '../seed/orders.js';

const PAGE = 1000;
const READERS = 4;
const SLICES = 8;

/** Pages of 1000 orders out of very many, with the number of all of them. */
export const exchangeListRow: Row = {
  name: 'exchange-list',
  title: 'GET /v1/merchant/orders, pages of 1000 with total_count',
  run: runExchangeList,
};

async function runExchangeList(context: RowContext): Promise<RowOutcome> {
  const { environment, options, progress } = context;
  const url = await environment.database('orders');
  const database = await Database.connect({ url, poolSize: READERS, migrations: MIGRATIONS });
  try {
    const seeded = await seedOrders(database, options['listed-orders'], context);
    await environment.checkpoint();
    const filters = filtersOf(seeded);
    for (const [name, filter] of Object.entries(filters))
      await checkCount(context, database, seeded, name, filter);
    const variants = Object.entries(filters).flatMap(([name, filter]) => [
      pages(database, `${name}, counted`, seeded.keyId, filter, Math.ceil(options.pages / SLICES), true),
      pages(database, `${name}, not counted`, seeded.keyId, filter, Math.ceil(options.pages / SLICES), false),
    ]);
    const samples = await alternate(variants, options.rounds, progress, SLICES);
    return {
      comparisons: Object.keys(filters).map((name) =>
        compare(samples, {
          label: `${name}: beside the same page without the count`,
          subject: `${name}, counted`,
          reference: `${name}, not counted`,
          goal: { atMost: 1.3 },
        }),
      ),
      notes: [
        `${seeded.count} orders of one key over 30 days; ${options.pages} pages per variant and round, ${READERS} readers at a time`,
        `events through the projection: ${seeded.eventsPerSecond} a second`,
      ],
    };
  } finally {
    await database.close();
  }
}

/** Ranges begin and end in the middle of an hour, so that both edges are counted row by row. */
function filtersOf({
  from,
  until,
  richUser,
  richAddress,
}: SeededOrders): Readonly<Record<string, OrderFilter>> {
  const all = { from, until, pageSize: PAGE };
  const hour = { from: new Date(until.getTime() - 3_600_000), until, pageSize: PAGE };
  return {
    all,
    'status=completed': { ...all, status: 'completed' },
    user_id: { ...all, userId: richUser },
    withdraw_address: { ...all, withdrawAddress: richAddress },
    'user_id, withdraw_address and status': {
      ...all,
      userId: richUser,
      withdrawAddress: richAddress,
      status: 'completed',
    },
    'one hour': hour,
  };
}

/** Nothing is sealed in the rows of the seed. */
function viewOf(database: Database): OrdersView {
  const keys = { obtain: async () => null, find: async () => new Map() };
  return new OrdersView(database, USER_HASHES, new EventCodec(new EventRegistry(), keys));
}

function pages(
  database: Database,
  name: string,
  keyId: string,
  filter: OrderFilter,
  count: number,
  counted: boolean,
): Variant {
  const view = viewOf(database);
  const { sql, params } = orderPageQuery(keyId, filter, USER_HASHES);
  const once = (): Promise<Buffer> =>
    counted
      ? view.page(keyId, filter)
      : bodyPage(database, { sql, tables: ['exchange.orders'], params, pageSize: PAGE }, ({ bodies }) =>
          Buffer.from(bodies),
        );
  return {
    name,
    run: async () => ({
      units: count,
      seconds: await timed(async () => {
        for (let left = count; left > 0; left -= READERS)
          await Promise.all(Array.from({ length: Math.min(READERS, left) }, once));
      }),
    }),
  };
}

/** The count is that of the rows, whose bodies say what is filtered by. */
async function checkCount(
  { checks }: RowContext,
  database: Database,
  { keyId }: SeededOrders,
  name: string,
  { from, until, userId, status, withdrawAddress, pageSize }: OrderFilter,
): Promise<void> {
  const [row] = await database.query<{ n: number }>(
    `select count(*)::int as n from exchange.orders where key_scope = $1 and created_at >= $2 and created_at < $3
       and ($4::text is null or body::json->>'user_id' = $4) and ($5::text is null or body::json->>'status' = $5)
       and ($6::text is null or body::json->>'withdraw_address' = $6)`,
    [keyId, from, until, userId ?? null, status ?? null, withdrawAddress ?? null],
  );
  const filter = { from, until, userId, status, withdrawAddress, pageSize };
  const page = (await viewOf(database).page(keyId, filter)).toString();
  const { total_count, orders } = JSON.parse(page) as { total_count: number; orders: unknown[] };
  checks.equal(`${name}: total_count`, total_count, row!.n);
  checks.equal(`${name}: orders on the page`, orders.length, Math.min(pageSize, row!.n));
}

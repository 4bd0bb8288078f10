import { PayoutsList, type PayoutsFilter } from '../../src/contexts/payouts/views/payouts-list.js';
import { ListedPayoutRow } from '../../src/contexts/payouts/views/payout-row.js';
import {
  DELIVERY_COLUMNS,
  deliveryJson,
  type DeliveryColumns,
} from '../../src/contexts/webhooks/store/stored-deliveries.js';
import { DeliveriesList, type DeliveriesFilter } from '../../src/contexts/webhooks/views/deliveries-list.js';
import type { Context } from '../../src/platform/context.js';
import { Database } from '../../src/platform/postgres/database.js';
import { decodeCursor } from '../../src/platform/postgres/page-cursor.js';
import { ReadModels } from '../../src/platform/read-models/read-models.js';
import { compare } from '../harness/compare.js';
import { alternate, type Sample, type Variant } from '../harness/measure.js';
import { expectEqual, type Row, type RowContext, type RowOutcome } from '../harness/row.js';
import { LEDGER, ledger } from '../seed/ledger.js';
import { seedListedDeliveries } from '../seed/listed-deliveries.js';

const PAGE = 100;
/** Pages of each list that are read over and over, from its beginning. */
const PAGES = 20;
const DAY_MS = 86_400_000;
const CHAIN = {
  chainId: 31337,
  chainMaxHeadAgeSeconds: null,
  payoutFinality: null,
  payoutExpiryMarginSeconds: null,
};

interface ReadPage {
  readonly ids: readonly string[];
  readonly cursor: string | null;
}

/** One list: a page of it, and the same rows by their ids. */
interface List {
  readonly name: string;
  page(cursor: string | null): Promise<ReadPage>;
  byIds(ids: readonly string[]): Promise<readonly string[]>;
}

/** Lists of operators and of the portal, out of very many rows. */
export const adminListsRow: Row = {
  name: 'admin-lists',
  title: `lists of the console and the portal, pages of ${PAGE}`,
  run: runLists,
};

async function runLists(context: RowContext): Promise<RowOutcome> {
  const { environment, options, progress } = context;
  const seeded = await ledger(context);
  const pool = await environment.pool(LEDGER);
  progress(`${options['listed-deliveries']} deliveries`);
  const deliveries = await seedListedDeliveries(pool, options['listed-deliveries']);
  await pool.query('vacuum analyze payouts.payouts');
  const url = await environment.database(LEDGER);
  const database = await Database.connect({ url, poolSize: 4 });
  const models = new ReadModels({ databaseUrl: url }, [
    { entities: [ListedPayoutRow] } as unknown as Context,
  ]);
  try {
    const ofPayouts = payoutsLists(models, seeded.merchant.apiKey, seeded.richUser);
    const ofDeliveries = deliveriesLists(database, deliveries.merchantId, deliveries.endpointId);
    return await measure([...ofPayouts, ...ofDeliveries], context);
  } finally {
    await models.onApplicationShutdown();
    await database.close();
  }
}

async function measure(lists: readonly List[], { options, progress }: RowContext): Promise<RowOutcome> {
  const times = new Map<string, number[]>(lists.map(({ name }) => [name, []]));
  const variants: Variant[] = [];
  for (const list of lists) {
    const pages = await firstPages(list);
    variants.push(
      {
        name: list.name,
        run: (round) =>
          timedPages(
            pages.map(
              ({ after }) =>
                () =>
                  list.page(after),
            ),
            (ms) => {
              if (round >= 0) times.get(list.name)!.push(ms);
            },
          ),
      },
      {
        name: `${list.name} by id`,
        run: () =>
          timedPages(
            pages.map(
              ({ ids }) =>
                () =>
                  list.byIds(ids),
            ),
          ),
      },
    );
  }
  const samples = await alternate(variants, options.rounds, progress);
  return {
    comparisons: lists.map(({ name }) =>
      compare(samples, {
        label: `${name}, compared with the same rows by id`,
        subject: name,
        reference: `${name} by id`,
        goal: { atMost: 1.3 },
      }),
    ),
    notes: [...times].map(([name, ms]) => {
      ms.sort((a, b) => a - b);
      return `${name}: p95 of a page ${ms[Math.floor(ms.length * 0.95)]!.toFixed(1)} ms`;
    }),
  };
}

async function firstPages(list: List): Promise<readonly { after: string | null; ids: readonly string[] }[]> {
  const pages: { after: string | null; ids: readonly string[] }[] = [];
  for (let after: string | null = null; pages.length < PAGES;) {
    const { ids, cursor } = await list.page(after);
    expectEqual(`${list.name} by id`, new Set(await list.byIds(ids)), new Set(ids));
    pages.push({ after, ids });
    if (cursor === null) break;
    after = cursor;
  }
  return pages;
}

async function timedPages(
  pages: readonly (() => Promise<unknown>)[],
  each: (ms: number) => void = () => undefined,
): Promise<Sample> {
  const start = performance.now();
  for (const read of pages) {
    const began = performance.now();
    await read();
    each(performance.now() - began);
  }
  return { units: pages.length, seconds: (performance.now() - start) / 1000 };
}

function payoutsLists(models: ReadModels, merchant: string, userId: string): List[] {
  const list = new PayoutsList(models, CHAIN);
  const lists: Record<string, { merchants: readonly string[] | null; filter: PayoutsFilter }> = {
    'payouts of all': { merchants: null, filter: {} },
    'payouts of a merchant': { merchants: [merchant], filter: {} },
    'payouts, expired': { merchants: null, filter: { status: 'expired' } },
    'payouts of a user, expired': { merchants: null, filter: { userId, status: 'expired' } },
  };
  return Object.entries(lists).map(([name, { merchants, filter }]) => ({
    name,
    async page(cursor) {
      const after = cursor === null ? undefined : decodeCursor(cursor)!;
      const { payouts, next_cursor } = await list.page({
        merchants,
        filter,
        page: { pageSize: PAGE, after },
      });
      return { ids: payouts.map(({ id }) => id), cursor: next_cursor };
    },
    async byIds(ids) {
      const query = await models.query(ListedPayoutRow, 'payout');
      return (await query.where('payout.id = any(:ids)', { ids }).getMany()).map(({ id }) => id);
    },
  }));
}

function deliveriesLists(database: Database, merchantId: string, endpointId: string): List[] {
  const list = new DeliveriesList(database);
  const from = new Date(Date.now() - 60 * DAY_MS);
  const until = new Date(Date.now() - 30 * DAY_MS);
  const one = { merchantIds: [merchantId] };
  const lists: Record<string, Omit<DeliveriesFilter, 'pageSize' | 'after'>> = {
    'deliveries of all': { merchantIds: null },
    'deliveries, exhausted': { merchantIds: null, status: 'exhausted' },
    'deliveries, pending': { merchantIds: null, status: 'pending' },
    'deliveries of a month': { merchantIds: null, from, until },
    'deliveries of a merchant': one,
    'deliveries of a merchant, exhausted': { ...one, status: 'exhausted' },
    'deliveries of a merchant, of a rare type': { ...one, type: 'payout.failed' },
    'deliveries to an endpoint': { ...one, endpointId },
  };
  return Object.entries(lists).map(([name, filter]) => ({
    name,
    async page(cursor) {
      const place = cursor === null ? {} : { after: decodeCursor(cursor)! };
      const { deliveries, next_cursor } = await list.page({ ...filter, pageSize: PAGE, ...place });
      return { ids: deliveries.map(({ id }) => id), cursor: next_cursor };
    },
    async byIds(ids) {
      const rows = await database.query<DeliveryColumns>(
        `select ${DELIVERY_COLUMNS} from webhooks.deliveries where delivery_id = any($1::uuid[])`,
        [ids],
      );
      return rows.map(deliveryJson).map(({ id }) => id);
    },
  }));
}

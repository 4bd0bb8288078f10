import { applyOrderEvents } from '../../src/contexts/exchange/views/order-projection.js';
import {
  ORDER_STATUSES,
  type OrderEvent,
  type OrderFacts,
} from '../../src/contexts/exchange/domain/order-events.js';
import { userHash } from '../../src/contexts/exchange/domain/user-hash.js';
import { KeyedHash } from '../../src/platform/sealing/keyed-hash.js';
import { deriveId } from '../../src/kernel/ids.js';
import type { RecordedEvent } from '../../src/platform/event-store/port.js';
import type { RowContext } from '../harness/row.js';
import type { Database } from '../../src/platform/postgres/database.js';

/** Orders that the service's own projection makes from events; the others are copies of their rows. */
const TEMPLATE = 20_000;
const BATCH = 5000;
const DAYS = 30;
const DAY_MS = 86_400_000;
const ADDRESSES = 1000;
export const USER_HASHES = new KeyedHash(Buffer.alloc(32));

export interface SeededOrders {
  readonly keyId: string;
  /** Has a tenth of all orders. */
  readonly richUser: string;
  readonly richAddress: string;
  readonly from: Date;
  readonly until: Date;
  readonly count: number;
  /** Of the events that went through the projection. */
  readonly eventsPerSecond: number;
}

/** Orders of one key, spread evenly over 30 days. */
export async function seedOrders(
  database: Database,
  wanted: number,
  { checks, progress }: Pick<RowContext, 'checks' | 'progress'>,
): Promise<SeededOrders> {
  const template = Math.min(TEMPLATE, wanted);
  const copies = Math.max(1, Math.floor(wanted / template));
  const keyId = deriveId('bench', 'exchange key');
  const until = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - 1_234_567);
  const from = new Date(until.getTime() - DAYS * DAY_MS);
  const apart = (DAYS * DAY_MS) / template;
  let events = 0;
  const started = performance.now();
  for (let first = 0; first < template; first += BATCH) {
    progress(`${first} of ${template} orders from events`);
    const batch = Array.from({ length: Math.min(BATCH, template - first) }, (_, n) =>
      history(
        facts(keyId, first + n, new Date(from.getTime() + (first + n) * apart).toISOString()),
        first + n,
      ),
    ).flat();
    events += batch.length;
    await database.transaction(async (tx) => applyOrderEvents(batch, tx));
  }
  const eventsPerSecond = Math.round((events * 1000) / (performance.now() - started));
  const [difference] = await database.query<{ n: number }>(
    `select count(*)::int as n from ((table exchange.order_counts except ${COUNTS}) union all (${COUNTS} except table exchange.order_counts)) other`,
  );
  checks.equal('counts of the projection that the seed makes otherwise', difference!.n, 0);
  progress(`${copies * template} orders from their rows`);
  await copyRows(database, copies, apart);
  const { richUser, richAddress } = { richUser: 'user 0', richAddress: address(0) };
  return { keyId, richUser, richAddress, from, until, count: copies * template, eventsPerSecond };
}

const STATUSES = ORDER_STATUSES.map((_, n) => `(count(*) filter (where status = ${n}))::int`).join(', ');

/** The counts as the projection makes them. */
const COUNTS = `select scope, hours::smallint, date_bin(make_interval(hours => hours), created_at, '2000-01-01Z') as starts_at, ${STATUSES}
  from exchange.orders, lateral (values (key_scope, 24), (key_scope, 1), (user_scope, 24), (address_scope, 24),
    (user_address_scope, 24)) place (scope, hours)
  where scope is not null group by 1, 2, 3`;

/** Each row so many times, evenly between it and the next; indexes and counts are made afterwards. */
async function copyRows(database: Database, copies: number, apart: number): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query(`set local maintenance_work_mem = '512MB'`);
    const { rows: indexes } = await tx.query<{ name: string; definition: string }>(
      `select indexname as name, indexdef as definition from pg_indexes
       where schemaname = 'exchange' and indexname like 'orders_by_%'`,
    );
    for (const { name } of indexes) await tx.query(`drop index exchange.${name}`);
    await tx.query(
      `insert into exchange.orders (id, key_scope, user_scope, address_scope, user_address_scope, status, created_at,
         revision, events, body)
       select copy, key_scope, user_scope, address_scope, user_address_scope, status,
         date_trunc('milliseconds', created_at + n * make_interval(secs => $2)), revision, events,
         replace(body, id::text, copy::text)
       from generate_series(1, $1 - 1) n, exchange.orders, lateral (select md5(id::text || n)::uuid as copy) named`,
      [copies, apart / 1000 / copies],
    );
    await tx.query('truncate exchange.order_counts');
    await tx.query(`insert into exchange.order_counts ${COUNTS}`);
    for (const { definition } of indexes) await tx.query(definition);
  });
  await database.query('vacuum analyze exchange.orders, exchange.order_counts');
}

function facts(keyId: string, n: number, at: string): OrderFacts {
  const user = n % 2 === 0 ? `user ${n % 10 === 0 ? 0 : n}` : null;
  return {
    order_id: deriveId('bench', 'order', String(n)),
    key_id: keyId,
    merchant_id: deriveId('bench', 'merchant'),
    pair_id: 'USDCSOL',
    withdraw_address: address(n % 10 === 0 ? 0 : n % ADDRESSES),
    withdraw_address_tag: null,
    withdraw_address_memo: null,
    user_id: user,
    user_hash: user === null ? null : userHash(USER_HASHES, keyId, user),
    caller: null,
    provider: 'sandbox',
    provider_reference: String(n),
    deposit_address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
    deposit_address_tag: null,
    amount_from: '100',
    amount_to: '0.512345678',
    rate: '0.00512345678',
    minimum: '10',
    maximum: '10000',
    decimals_to: 9,
    created_at: at,
    expires_at: at,
  };
}

function address(n: number): string {
  return `4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4g${String(n).padStart(4, '1')}`;
}

/** Most orders are completed, some expired, some cancelled, some pending. */
function history(made: OrderFacts, n: number): RecordedEvent[] {
  const at = made.created_at;
  const base = { order_id: made.order_id, at };
  const end: OrderEvent[] =
    n % 10 < 6
      ? [
          {
            type: 'order.processing_started.v1',
            data: { ...base, amount_from: '100', amount_to: '0.5', refundable: '0' },
          },
          {
            type: 'order.completed.v1',
            data: { ...base, amount_to: '0.5', withdraw_transaction_hash: 'hash' },
          },
        ]
      : n % 10 < 8
        ? [{ type: 'order.expired.v1', data: base }]
        : n % 10 < 9
          ? [{ type: 'order.cancelled.v1', data: { ...base, refundable: '0' } }]
          : [];
  return [{ type: 'order.created.v1' as const, data: made }, ...end].map(({ type, data }, revision) => ({
    ...{ id: made.order_id, type, metadata: {}, revision, position: '1' },
    data: data as unknown as RecordedEvent['data'],
    stream: `order-${made.order_id}`,
    recordedAt: new Date(at),
  }));
}

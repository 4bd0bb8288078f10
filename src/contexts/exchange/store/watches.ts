import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/postgres/database.js';
import { scheduleWork, WorkItems } from '../../../platform/work/work-items.js';
import type { OrderStatus } from '../domain/order-events.js';

/** Work of `work.items` for as long as anything may become of an order; its shares are providers. */
export const WATCH = 'exchange.watch';
/** Orders that there is a reason to poll go before those that are merely due. */
export const WATCH_LINES = { woken: 0, polled: 1 } as const;
/** What has been due for longer is late. */
const LATE_MS = 10_000;

/** What the provider was notified of last. */
export type Told = 'settle' | 'cancel' | null;

/** What a poll found. */
export interface Found {
  readonly status: OrderStatus;
  readonly owed: string;
  readonly shortfall: string;
  /** What the provider did although the order had ended here. */
  readonly lateOutcomes: readonly string[];
}

/** A new order, as the table knows it. */
export interface NewWatch {
  readonly order_id: string;
  readonly key_id: string;
  readonly pair_id: string;
  readonly provider: string;
  readonly created_at: string;
}

/** How much there is to watch. */
export interface WatchTotals {
  readonly open: Readonly<Record<string, number>>;
  readonly owed: number;
  readonly shortfall: number;
  readonly late: number;
  readonly lateSeconds: number;
}

/** An order as operators see it in a list: as the last poll found it. */
export interface WatchedOrder {
  readonly order_id: string;
  readonly key_id: string;
  readonly pair_id: string;
  readonly provider: string;
  readonly status: string;
  readonly owed: string;
  /** What was exchanged or refunded although its deposits are no longer on the chain. */
  readonly shortfall: string;
  /** What the provider did although the order had ended here: it may have given back what is owed. */
  readonly late_outcomes: readonly string[];
  readonly created_at: Date;
  readonly next_check_at: Date | null;
}

export interface WatchFilter {
  readonly status: string | null;
  readonly keyId: string | null;
  readonly isOwed: boolean;
  readonly isShort: boolean;
  readonly most: number;
}

/** `exchange.watches`: what the last poll of each order found. */
@Injectable()
export class Watches {
  constructor(
    private readonly database: Database,
    private readonly items: WorkItems,
  ) {}

  /** What the provider was notified of before. */
  async record(orderId: string, { status, owed, shortfall, lateOutcomes }: Found): Promise<Told> {
    const [row] = await this.database.query<{ told: Told }>(
      `update exchange.watches set status = $2, owed = $3, shortfall = $4, late_outcomes = $5::text[]
       where order_id = $1 returning told`,
      [orderId, status, owed, shortfall, lateOutcomes],
    );
    return row?.told ?? null;
  }

  async notified(orderId: string, told: Told): Promise<void> {
    await this.database.query('update exchange.watches set told = $2 where order_id = $1', [orderId, told]);
  }

  /** Newest first. */
  async list({ status, keyId, isOwed, isShort, most }: WatchFilter): Promise<readonly WatchedOrder[]> {
    const conditions = ['true'];
    const params: unknown[] = [most];
    if (status !== null) conditions.push(`status = $${params.push(status)}`);
    if (keyId !== null) conditions.push(`key_id = $${params.push(keyId)}`);
    if (isOwed) conditions.push('owed > 0');
    if (isShort) conditions.push('shortfall > 0');
    return this.database.query<WatchedOrder & Record<string, unknown>>(
      `select order_id, key_id, pair_id, provider, status, trim_scale(owed)::text as owed,
         trim_scale(shortfall)::text as shortfall, late_outcomes,
         created_at, due_at as next_check_at
       from exchange.watches left join work.items on kind = '${WATCH}' and key = order_id::text
       where ${conditions.join(' and ')} order by created_at desc, order_id desc limit $1`,
      params,
    );
  }

  async totals(): Promise<WatchTotals> {
    const [open, [owed], [short], late] = await Promise.all([
      this.database.query<{ status: string; count: string }>(
        `select status, count(*) from exchange.watches where status in ('pending', 'paid', 'processing') group by status`,
      ),
      this.database.query<{ count: string }>('select count(*) from exchange.watches where owed > 0'),
      this.database.query<{ count: string }>('select count(*) from exchange.watches where shortfall > 0'),
      this.items.late(WATCH, LATE_MS),
    ]);
    return {
      open: Object.fromEntries(open.map(({ status, count }) => [status, Number(count)])),
      owed: Number(owed!.count),
      shortfall: Number(short!.count),
      late: late.count,
      lateSeconds: late.seconds,
    };
  }
}

/** Adds orders that were created: due at once. */
export async function addWatches(tx: PoolClient, orders: readonly NewWatch[]): Promise<void> {
  if (orders.length === 0) return;
  await tx.query(
    `insert into exchange.watches (order_id, key_id, pair_id, provider, created_at, status)
     select *, 'pending'
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[]) on conflict do nothing`,
    [
      orders.map(({ order_id }) => order_id),
      orders.map(({ key_id }) => key_id),
      orders.map(({ pair_id }) => pair_id),
      orders.map(({ provider }) => provider),
      orders.map(({ created_at }) => created_at),
    ],
  );
  await schedule(tx, orders, WATCH_LINES.polled);
}

/** Has orders polled before all that are merely due, also those that are not polled any more: in the transaction that knows of a reason. */
export async function wakeWatches(tx: PoolClient, orderIds: readonly string[]): Promise<void> {
  if (orderIds.length === 0) return;
  const { rows } = await tx.query<Pick<NewWatch, 'order_id' | 'provider'>>(
    'select order_id, provider from exchange.watches where order_id = any($1::uuid[])',
    [orderIds],
  );
  await schedule(tx, rows, WATCH_LINES.woken);
}

function schedule(
  tx: PoolClient,
  orders: readonly Pick<NewWatch, 'order_id' | 'provider'>[],
  line: number,
): Promise<void> {
  return scheduleWork(
    tx,
    WATCH,
    orders.map(({ order_id: key, provider: share }) => ({ key, share, line })),
  );
}

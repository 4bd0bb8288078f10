import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/postgres/database.js';
import { scheduleWork, WorkItems } from '../../../platform/work/work-items.js';
import type { OrderFacts, OrderStatus } from '../domain/order-events.js';

/** Work of `work.items` for as long as an order may change; its shares are providers. */
export const WATCH = 'exchange.watch';
/** Orders with a reason to be polled come before those that are merely due. */
export const WATCH_LINES = { woken: 0, polled: 1 } as const;
const LATE_MS = 10_000;

/** The last notification of the provider. */
export type Notification = 'settle' | 'cancel' | null;

/** The result of a poll. */
interface PollResult {
  readonly status: OrderStatus;
  readonly refundable: string;
  readonly shortfall: string;
  readonly lateOutcomes: readonly string[];
}

type NewWatch = Pick<OrderFacts, 'order_id' | 'key_id' | 'pair_id' | 'provider' | 'created_at'>;

/** An order as the last poll found it, for operators. */
export interface WatchedOrder {
  readonly order_id: string;
  readonly key_id: string;
  readonly pair_id: string;
  readonly provider: string;
  readonly status: string;
  readonly refundable: string;
  readonly shortfall: string;
  /** What the provider did after the order had ended here: it may have refunded. */
  readonly late_outcomes: readonly string[];
  readonly created_at: Date;
  readonly next_check_at: Date | null;
}

interface WatchFilter {
  readonly status: string | null;
  readonly keyId: string | null;
  readonly isRefundable: boolean;
  readonly isShort: boolean;
  readonly limit: number;
}

/** `exchange.watches`: what the last poll of each order found. */
@Injectable()
export class Watches {
  constructor(
    private readonly database: Database,
    private readonly items: WorkItems,
  ) {}

  /** Returns the last notification of the provider. */
  async record(
    orderId: string,
    { status, refundable, shortfall, lateOutcomes }: PollResult,
  ): Promise<Notification> {
    const [row] = await this.database.query<{ notified: Notification }>(
      `update exchange.watches set status = $2, refundable = $3, shortfall = $4, late_outcomes = $5::text[]
       where order_id = $1 returning notified`,
      [orderId, status, refundable, shortfall, lateOutcomes],
    );
    return row?.notified ?? null;
  }

  async notified(orderId: string, notification: Notification): Promise<void> {
    await this.database.query('update exchange.watches set notified = $2 where order_id = $1', [
      orderId,
      notification,
    ]);
  }

  /** Newest first. */
  async list({ status, keyId, isRefundable, isShort, limit }: WatchFilter): Promise<readonly WatchedOrder[]> {
    const conditions = ['true'];
    const params: unknown[] = [limit];
    if (status !== null) conditions.push(`status = $${params.push(status)}`);
    if (keyId !== null) conditions.push(`key_id = $${params.push(keyId)}`);
    if (isRefundable) conditions.push('refundable > 0');
    if (isShort) conditions.push('shortfall > 0');
    return this.database.query<WatchedOrder & Record<string, unknown>>(
      `select order_id, key_id, pair_id, provider, status, trim_scale(refundable)::text as refundable,
         trim_scale(shortfall)::text as shortfall, late_outcomes,
         created_at, due_at as next_check_at
       from exchange.watches left join work.items on kind = '${WATCH}' and key = order_id::text
       where ${conditions.join(' and ')} order by created_at desc, order_id desc limit $1`,
      params,
    );
  }

  /** For gauges. */
  async totals() {
    const [open, [refundable], [short], late] = await Promise.all([
      this.database.query<{ status: string; count: string }>(
        `select status, count(*) from exchange.watches where status in ('pending', 'paid', 'processing') group by status`,
      ),
      this.database.query<{ count: string }>('select count(*) from exchange.watches where refundable > 0'),
      this.database.query<{ count: string }>('select count(*) from exchange.watches where shortfall > 0'),
      this.items.late(WATCH, LATE_MS),
    ]);
    return {
      open: Object.fromEntries(open.map(({ status, count }) => [status, Number(count)])) as Record<
        string,
        number
      >,
      refundable: Number(refundable!.count),
      shortfall: Number(short!.count),
      late: late.count,
      lateSeconds: late.seconds,
    };
  }
}

/** Adds new orders: due at once. */
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

/** Has orders polled before those that are merely due, also orders that are no longer polled. */
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

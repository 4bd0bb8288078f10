import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/postgres/database.js';
import type { OrderStatus } from '../domain/order-events.js';

/**
 * How long a process keeps others from the orders it took, in seconds: so long an order rests when the process is killed
 * or stands still. A look that takes longer is harmless: whatever follows from two looks is written once.
 */
const LEASE_SECONDS = 30;

/** An order to look at. */
export interface Watch {
  readonly orderId: string;
  readonly provider: string;
  /** What the provider was told of the order at last. */
  readonly told: Told;
  /** Looks in a row that found nothing out. */
  readonly failures: number;
  /** Stands for this take; changed by whoever wants the order looked at anew. */
  readonly lease: string;
}

export type Told = 'settle' | 'cancel' | null;

/** What a look found. */
export interface Found {
  readonly status: OrderStatus;
  readonly owed: string;
  readonly shortfall: string;
  /** What the provider did although the order had ended here. */
  readonly lateOutcomes: readonly string[];
  readonly told: Told;
  /** The provider has not taken what it was told. */
  readonly hasFailed: boolean;
  /** Until the next look; null: no more. */
  readonly delayMs: number | null;
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

/** An order as operators see it in a list: as the last look found it. */
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

/** The table of orders to look at, shared by all processes. */
@Injectable()
export class Watches {
  constructor(private readonly database: Database) {}

  /** Takes up to `limit` orders that are due, but those of these providers; first those that there is a reason to look at. */
  async take(limit: number, without: readonly string[]): Promise<readonly Watch[]> {
    const rows = await this.database.query<{
      order_id: string;
      provider: string;
      told: Told;
      failures: number;
      lease: string;
    }>(
      `with due as (
         select order_id from exchange.watches where next_check_at <= now() and provider <> all($2::text[])
         order by woken desc, next_check_at limit $1 for update skip locked
       )
       update exchange.watches watch
       set next_check_at = now() + make_interval(secs => ${LEASE_SECONDS}), woken = false
       from due where watch.order_id = due.order_id
       returning watch.order_id, provider, told, failures, next_check_at::text as lease`,
      [limit, without],
    );
    return rows.map(({ order_id: orderId, ...rest }) => ({ orderId, ...rest }));
  }

  /** What was found is kept; somebody who wanted another look meanwhile gets it. */
  async putBack({ orderId, lease }: Watch, found: Found): Promise<void> {
    await this.database.query(
      `update exchange.watches
       set status = $3, owed = $4, told = $5, late_outcomes = $7::text[], shortfall = $9,
         failures = case when $8 then least(failures + 1, 100) else 0 end,
         next_check_at = case when next_check_at = $2::timestamptz
           then now() + make_interval(secs => $6::float8 / 1000) else next_check_at end
       where order_id = $1`,
      [
        ...[orderId, lease, found.status, found.owed, found.told],
        ...[found.delayMs, found.lateOutcomes, found.hasFailed, found.shortfall],
      ],
    );
  }

  /** The look found nothing out. `failed`: not because nobody was asked. */
  async postpone({ orderId, lease }: Watch, delayMs: number, failed: boolean): Promise<void> {
    await this.database.query(
      `update exchange.watches
       set failures = least(failures + $4::int, 100),
         next_check_at = case when next_check_at = $2::timestamptz
           then now() + make_interval(secs => $3::float8 / 1000) else next_check_at end
       where order_id = $1`,
      [orderId, lease, delayMs, failed ? 1 : 0],
    );
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
         created_at, next_check_at
       from exchange.watches where ${conditions.join(' and ')} order by created_at desc, order_id desc limit $1`,
      params,
    );
  }

  async totals(): Promise<WatchTotals> {
    const [open, [owed], [short], [late]] = await Promise.all([
      this.database.query<{ status: string; count: string }>(
        `select status, count(*) from exchange.watches where status in ('pending', 'paid', 'processing') group by status`,
      ),
      this.database.query<{ count: string }>('select count(*) from exchange.watches where owed > 0'),
      this.database.query<{ count: string }>('select count(*) from exchange.watches where shortfall > 0'),
      this.database.query<{ count: string; seconds: number }>(
        `select count(*), coalesce(extract(epoch from now() - min(next_check_at)), 0)::float8 as seconds
         from exchange.watches where next_check_at <= now() - interval '10 seconds'`,
      ),
    ]);
    return {
      open: Object.fromEntries(open.map(({ status, count }) => [status, Number(count)])),
      owed: Number(owed!.count),
      shortfall: Number(short!.count),
      late: Number(late!.count),
      lateSeconds: late!.seconds,
    };
  }
}

/** Adds orders that were made: due at once. */
export async function addWatches(tx: PoolClient, orders: readonly NewWatch[]): Promise<void> {
  if (orders.length === 0) return;
  await tx.query(
    `insert into exchange.watches (order_id, key_id, pair_id, provider, created_at, status, next_check_at)
     select *, 'pending', now()
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[]) on conflict do nothing`,
    [
      orders.map(({ order_id }) => order_id),
      orders.map(({ key_id }) => key_id),
      orders.map(({ pair_id }) => pair_id),
      orders.map(({ provider }) => provider),
      orders.map(({ created_at }) => created_at),
    ],
  );
}

/** Has orders looked at now, before all that are just due, also those that nobody looked at any more: in the transaction that knows of a reason. */
export async function wakeWatches(tx: PoolClient, orderIds: readonly string[]): Promise<void> {
  if (orderIds.length === 0) return;
  await tx.query(
    `update exchange.watches set next_check_at = now(), woken = true
     where order_id = any($1::uuid[]) and (woken and next_check_at <= now()) is not true`,
    [orderIds],
  );
}

import { Injectable } from '@nestjs/common';
import type { ProviderOrder } from '../../src/contexts/exchange/orders/order-events.js';
import { WATCH, WATCH_LINES } from '../../src/contexts/exchange/watch/watch-schedule.js';
import { Database } from '../../src/platform/postgres/database.js';
import { wakeWork } from '../../src/platform/jobs/work-items.js';

/** The times of deposits in ISO 8601 by deposit id. */
export type ListedDeposits = Readonly<Record<string, string>>;

/** An order at the sandbox provider. */
export interface SandboxOrder {
  readonly terms: ProviderOrder;
  /** The first block that may hold a deposit. */
  readonly first_block: number;
  readonly listed: ListedDeposits;
  readonly is_settled: boolean;
  readonly settled_amount_to: string | null;
  /** The MAC over the order id and the settled amount. */
  readonly settled_mac: string | null;
}

/** The table `exchange.sandbox_orders`. */
@Injectable()
export class SandboxOrders {
  constructor(private readonly database: Database) {}

  /** Returns the order, or null. It counts as settled `settleMs` after its settlement. */
  async find(orderId: string, settleMs = 0): Promise<SandboxOrder | null> {
    const [row] = await this.database.query<SandboxOrder & Record<string, unknown>>(
      `select terms, first_block, listed, settled_amount_to, settled_mac,
         coalesce(settled_at + $2 * interval '1 ms' <= now(), false) as is_settled
       from exchange.sandbox_orders where order_id = $1`,
      [orderId, settleMs],
    );
    return row ?? null;
  }

  /**
   * Adds the order unless its id exists. Returns the stored terms. The address is unique too, and a
   * concurrent repeat may conflict on the address before the id.
   */
  async add(orderId: string, terms: ProviderOrder, firstBlock: number): Promise<ProviderOrder> {
    await this.database.query(
      `insert into exchange.sandbox_orders (order_id, address, terms, first_block) values ($1, $2, $3, $4)
       on conflict do nothing`,
      [orderId, terms.provider_reference, JSON.stringify(terms), firstBlock],
    );
    return (await this.find(orderId))!.terms;
  }

  /** Adds deposits. Returns all deposits that were ever listed, each with its first stored time. */
  async list(orderId: string, deposits: ListedDeposits): Promise<ListedDeposits> {
    const [row] = await this.database.query<{ listed: ListedDeposits }>(
      'update exchange.sandbox_orders set listed = $2::jsonb || listed where order_id = $1 returning listed',
      [orderId, JSON.stringify(deposits)],
    );
    return row!.listed;
  }

  /**
   * Settles the order; a second settlement has no effect. Returns false for an order that was cancelled or
   * never created.
   */
  async settle(orderId: string, amountTo: string, mac: string): Promise<boolean> {
    const rows = await this.database.query(
      `update exchange.sandbox_orders
       set settled_at = coalesce(settled_at, now()), settled_amount_to = coalesce(settled_amount_to, $2),
         settled_mac = coalesce(settled_mac, $3)
       where order_id = $1 and cancelled_at is null returning 1 as settled`,
      [orderId, amountTo, mac],
    );
    return rows.length === 1;
  }

  /** Cancels the order. Has no effect on a settled order. */
  async cancel(orderId: string): Promise<void> {
    await this.database.query(
      `update exchange.sandbox_orders set cancelled_at = now()
       where order_id = $1 and cancelled_at is null and settled_at is null`,
      [orderId],
    );
  }

  /** Makes a poll due at once for the orders with these deposit addresses. */
  async wake(addresses: readonly string[]): Promise<void> {
    if (addresses.length === 0) return;
    await this.database.transaction(async (tx) => {
      const { rows } = await tx.query<{ order_id: string }>(
        'select order_id from exchange.sandbox_orders where address = any($1)',
        [addresses],
      );
      await wakeWork(
        tx,
        WATCH,
        rows.map(({ order_id }) => order_id),
        WATCH_LINES.woken,
      );
    });
  }
}

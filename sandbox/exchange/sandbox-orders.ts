import { Injectable } from '@nestjs/common';
import { Database } from '../../src/platform/postgres/database.js';

/** An order as the sandbox provider keeps it. Amounts are decimal strings. */
export interface SandboxOrder {
  readonly order_id: string;
  readonly address_index: number;
  readonly deposit_address: string;
  readonly pair_id: string;
  readonly amount_from: string;
  readonly amount_to: string;
  readonly rate: string;
  readonly minimum: string;
  readonly maximum: string;
  readonly expires_at: Date;
}

export interface StoredDeposit {
  readonly transaction_hash: string;
  readonly place: number;
  readonly block_hash: string;
  /** Of minor units, as text. */
  readonly amount_minor: string;
  readonly block_number: number;
  readonly block_at: string;
  readonly is_missing: boolean;
}

/** What is known of an order, in one look. */
export interface SandboxStanding {
  readonly is_settled: boolean;
  readonly settled_amount_to: string | null;
  /** Over the order and the amount. */
  readonly settled_mac: string | null;
  readonly deposits: readonly StoredDeposit[];
  readonly dust: { readonly count: number; readonly amount_minor: string };
  readonly is_awaited: boolean;
  readonly complete_until: Date | null;
}

const COLUMNS = `order_id, address_index, deposit_address, pair_id, amount_from, amount_to, rate, minimum, maximum,
  expires_at`;

/** `exchange.sandbox_orders`, and what the scan has found for them. */
@Injectable()
export class SandboxOrders {
  constructor(private readonly database: Database) {}

  /** By their ids; those that there are. */
  async find(orderIds: readonly string[]): Promise<readonly SandboxOrder[]> {
    return this.database.query<SandboxOrder & Record<string, unknown>>(
      `select ${COLUMNS} from exchange.sandbox_orders where order_id = any($1)`,
      [orderIds],
    );
  }

  /** Numbers that nobody ever had, and nobody will have again. */
  async drawIndexes(count: number): Promise<readonly number[]> {
    const rows = await this.database.query<{ drawn: string }>(
      `select nextval('exchange.sandbox_address_index') as drawn from generate_series(1, $1)`,
      [count],
    );
    return rows.map(({ drawn }) => Number(drawn));
  }

  /** Of two orders with the same id the first stays: look it up with {@link find}. The ids of those that were added. */
  async add(orders: readonly SandboxOrder[]): Promise<ReadonlySet<string>> {
    const column = <K extends keyof SandboxOrder>(name: K) => orders.map((order) => order[name]);
    const rows = await this.database.query<{ order_id: string }>(
      `insert into exchange.sandbox_orders (${COLUMNS})
       select * from unnest($1::uuid[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
         $8::text[], $9::text[], $10::timestamptz[])
       on conflict (order_id) do nothing returning order_id`,
      [
        ...[column('order_id'), column('address_index'), column('deposit_address'), column('pair_id')],
        ...[column('amount_from'), column('amount_to'), column('rate'), column('minimum'), column('maximum')],
        column('expires_at'),
      ],
    );
    return new Set(rows.map(({ order_id }) => order_id));
  }

  /** Null for an order that was never made. `settleMs` after its settlement an order is settled. */
  async standing(orderId: string, settleMs: number): Promise<SandboxStanding | null> {
    const [row] = await this.database.query<SandboxStanding & Record<string, unknown>>(
      `select coalesce(o.settled_at + $2 * interval '1 ms' <= now(), false) as is_settled,
         o.settled_amount_to, o.settled_mac,
         coalesce((
           select json_agg(json_build_object('transaction_hash', transaction_hash, 'place', place,
             'block_hash', block_hash, 'amount_minor', amount_minor::text, 'block_number', block_number,
             'block_at', block_at, 'is_missing', missing_since is not null)
             order by block_number, transaction_hash, place)
           from exchange.deposits where order_id = o.order_id), '[]') as deposits,
         (select json_build_object('count', coalesce(sum(transfers), 0),
             'amount_minor', coalesce(sum(amount_minor), 0)::text)
           from exchange.sandbox_dust where order_id = o.order_id) as dust,
         exists (select from exchange.awaited_deposits where order_id = o.order_id) as is_awaited,
         (select complete_until from exchange.sandbox_scan) as complete_until
       from exchange.sandbox_orders o where o.order_id = $1`,
      [orderId, settleMs],
    );
    return row ?? null;
  }

  /** The first settlement counts. False for an order that was cancelled, or never made. */
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

  /** Without effect on one that is settled. */
  async cancel(orderId: string): Promise<void> {
    await this.database.query(
      `update exchange.sandbox_orders set cancelled_at = now()
       where order_id = $1 and cancelled_at is null and settled_at is null`,
      [orderId],
    );
  }

  /** Whose addresses these are, by address in lower case. Costs as much as there are addresses in the question. */
  async ownersOf(addresses: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (addresses.length === 0) return new Map();
    const rows = await this.database.query<{ address: string; order_id: string }>(
      `select lower(deposit_address) as address, order_id from exchange.sandbox_orders
       where lower(deposit_address) = any($1)`,
      [addresses],
    );
    return new Map(rows.map(({ address, order_id }) => [address, order_id]));
  }
}

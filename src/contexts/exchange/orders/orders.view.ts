import { Injectable } from '@nestjs/common';
import { fold, toStream } from '../../../kernel/aggregate.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { foldedRows } from '../../../platform/projections/folded-rows.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { bodyPage, listPage, type KeysetPage, type List } from '../../../platform/postgres/list-page.js';
import { Database } from '../../../platform/postgres/database.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { SEALED_TEXT } from '../../../platform/sealing/sealer.js';
import { plainHash } from './addresses.js';
import {
  allDeposits,
  amountRefundable,
  existingOrder,
  NO_PERSON,
  order,
  ORDER_EVENTS,
  shortfall,
  type ExistingOrder,
} from './order.js';
import {
  ORDER_STATUSES,
  PERSONAL_FIELDS,
  userHash,
  type OrderEvent,
  type OrderStatus,
} from './order-events.js';
import { listedOrder, orderRecord, type OrderJson, type OrderRecord } from './order-record.js';

export const ORDER_VIEWS = subscriptionName('exchange.views');

export const orderViews: SubscriptionDefinition = {
  name: ORDER_VIEWS,
  events: ORDER_EVENTS,
  // Only lists wait for the view, and larger batches cost much less under load.
  gatherMs: 20,
  staysSealed: true,
  apply: foldedRows({
    schema: 'exchange',
    table: 'orders',
    aggregate: order,
    id: 'order_id',
    toRow: (state) => (state.status === 'none' ? null : toRow(state)),
  }),
  tables: { schema: 'exchange', names: ['orders'], json: ['events'] },
};

/** Returns the row of an order. `body` is the API's JSON with sealed personal fields. */
function toRow(state: ExistingOrder) {
  const { key_id, merchant_id, user_hash, withdraw_address, created_at } = state;
  return {
    key_id,
    merchant_id,
    user_hash,
    withdraw_address,
    created_at,
    status: statusNumber(state.status),
    refundable: amountRefundable(state),
    shortfall: shortfall(state),
    search_keys: searchKeys(state),
    body: JSON.stringify(orderRecord(state)),
  };
}

function searchKeys(state: ExistingOrder): readonly string[] {
  const transfers = [...allDeposits(state), ...state.refunds];
  const hashes = transfers.map(({ transaction_hash }) => transaction_hash);
  const others = [state.deposit_address, state.withdraw_transaction_hash, state.refund_transaction_hash];
  return [...new Set([...others, ...hashes].filter((key) => key !== null).map(plainHash))];
}

/** The number of a status in `exchange.orders.status`. */
const statusNumber = (status: OrderStatus): number => ORDER_STATUSES.indexOf(status);

export interface OrderFilter extends KeysetPage {
  readonly key_id?: string | undefined;
  readonly user_id?: string | undefined;
  readonly status?: OrderStatus | undefined;
  readonly withdraw_address?: string | undefined;
  /** The creation time: `from` is inclusive, `until` exclusive. */
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
  /** The value `true` selects orders with a refundable amount. */
  readonly refundable?: string | undefined;
}

@Injectable()
export class OrdersView {
  constructor(
    private readonly database: Database,
    private readonly keyedHash: KeyedHash,
    private readonly codec: EventCodec,
    private readonly loop: CommandLoop,
  ) {}

  /** Returns a page of the key's orders as JSON, newest first, with the total from the same snapshot. */
  async page(key_id: string, filter: OrderFilter): Promise<string> {
    const list = await this.listOf(null, { ...filter, key_id });
    const page = await bodyPage(this.database, list, filter, { withTotal: true });
    const { bodies } = page;
    const orders = bodies.includes(`"${SEALED_TEXT}`)
      ? (await this.withPersons(JSON.parse(`[${bodies}]`) as OrderRecord[]))
          .map((each) => JSON.stringify(each))
          .join()
      : bodies;
    return `{"total_count":${page.total},"orders":[${orders}],"next_cursor":${JSON.stringify(page.next_cursor)}}`;
  }

  /** Returns orders by page, newest first; null means all merchants. `withPersonal` unseals personal data. */
  async rows(merchants: readonly string[] | null, filter: OrderFilter, withPersonal: boolean) {
    const list = await this.listOf(merchants, filter);
    const { rows, next_cursor } = await listPage<OrderRow>(this.database, list, filter);
    return { orders: await this.toOrders(rows, withPersonal), next_cursor };
  }

  /** Reads an order from its stream. Throws `not_found`. */
  async get(id: string, withPersonal: boolean): Promise<OrderJson> {
    const found = listedOrder(existingOrder(await this.loop.loadForDisplay(order, id)));
    return withPersonal ? found : { ...found, ...NO_PERSON };
  }

  /** Finds an order by id, or the newest orders by deposit address or hash (deposit, payout, refund). */
  @Searches('orders:read')
  async search({ text, uuid, merchants, limit }: SearchQuery): Promise<readonly Found[]> {
    if (uuid !== null) {
      const state = await this.loop.loadForDisplay(order, uuid);
      return state.status === 'none' ? [] : [foundOrder(listedOrder(state))];
    }
    const where = {
      'id in (select id from exchange.orders where search_keys @> array[?])': plainHash(text),
      'merchant_id = any(?)': merchants,
    };
    const list = { columns: 'events', from: ORDERS, where };
    const { rows } = await listPage<OrderRow>(this.database, list, { page_size: limit });
    return (await this.toOrders(rows, false)).map(foundOrder);
  }

  /** Returns the hash that identifies a key's user in operations. */
  userHash(keyId: string, userId: string): string {
    return userHash(this.keyedHash, keyId, userId);
  }

  async ofUserHash(keyId: string, hash: string): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      'select id from exchange.orders where key_id = $1 and user_hash = $2 order by created_at, id',
      [keyId, hash],
    );
    return rows.map(({ id }) => id);
  }

  async totals() {
    const open = OPEN.map((status) => [status, `status = ${statusNumber(status)}`] as const);
    const conditions = [...open, ['refundable', 'refundable > 0'], ['shortfall', 'shortfall > 0']] as const;
    const counts = conditions.map(
      ([name, condition]) => `(select count(*)::int from exchange.orders where ${condition}) as ${name}`,
    );
    const [totals] = await this.database.query<Record<(typeof conditions)[number][0], number>>(
      `select ${counts.join(', ')}`,
    );
    return totals!;
  }

  private async listOf(merchants: readonly string[] | null, filter: OrderFilter): Promise<List> {
    const { key_id, user_id, status, refundable, from, until, withdraw_address } = filter;
    const isRefundable = refundable === 'true';
    const list = { columns: 'events', from: ORDERS };
    const where = {
      'refundable > 0': isRefundable,
      'key_id = ?': key_id,
      'created_at >= ?': from,
      'created_at < ?': until,
      'withdraw_address = ?': withdraw_address,
    };
    const ofMerchants = { ...where, 'merchant_id = any(?)': merchants };
    const statuses = toNumbers(status);
    if (user_id !== undefined) {
      const values =
        key_id === undefined ? await this.toHashes(user_id, merchants) : [this.userHash(key_id, user_id)];
      return { ...list, where: ofMerchants, statuses, lanes: { column: 'user_hash', type: 'text', values } };
    }
    if (key_id !== undefined) return { ...list, where: ofMerchants, statuses };
    // Few orders have a refundable amount: one partial index serves all merchants.
    if (isRefundable) return { ...list, where: { ...ofMerchants, 'status = any(?)': statuses } };
    return { ...list, where, statuses, lanes: { column: 'merchant_id', type: 'uuid', values: merchants } };
  }

  /** Returns the hash of the user for each API key with orders of the user. */
  private async toHashes(userId: string, merchants: readonly string[] | null): Promise<readonly string[]> {
    const hashes = (await this.keys(merchants)).map((key) => this.userHash(key, userId));
    const known = await this.database.query<{ hash: string }>(
      `select hash from unnest($1::text[]) as listed (hash)
       where exists (select from exchange.orders where user_hash = hash)`,
      [hashes],
    );
    return known.map(({ hash }) => hash);
  }

  /** Returns the keys that created orders, by a loose index scan. A key belongs to one merchant. */
  private async keys(merchants: readonly string[] | null): Promise<readonly string[]> {
    const rows = await this.database.query<{ key: string }>(
      `with recursive keys as (
         (select key_id from exchange.orders order by key_id limit 1)
         union all
         select (select key_id from exchange.orders where key_id > last.key_id order by key_id limit 1)
         from keys last where last.key_id is not null
       ) select key_id as key from keys where key_id is not null and ($1::uuid[] is null
           or (select merchant_id from exchange.orders any_of where any_of.key_id = keys.key_id limit 1) = any($1))`,
      [merchants],
    );
    return rows.map(({ key }) => key);
  }

  private async toOrders(rows: readonly OrderRow[], withPersonal: boolean): Promise<readonly OrderJson[]> {
    const orders = rows.map(({ events }) =>
      listedOrder(fold(order, JSON.parse(events) as OrderEvent[]) as ExistingOrder),
    );
    return withPersonal ? this.withPersons(orders) : orders.map((each) => ({ ...each, ...NO_PERSON }));
  }

  /** Unseals the personal fields, which are null once they are erased. */
  private async withPersons<Listed extends OrderRecord>(
    orders: readonly Listed[],
  ): Promise<readonly Listed[]> {
    const opened = await this.codec.open(
      orders.map(({ id: order_id, user_id, withdraw_address_tag, withdraw_address_memo }) => ({
        stream: toStream(order, order_id),
        type: 'order.created.v1',
        data: { order_id, user_id, withdraw_address_tag, withdraw_address_memo },
      })),
    );
    return orders.map((each, n) => {
      const personal = PERSONAL_FIELDS.map((name) => [name, opened[n]!.data[name]]);
      return { ...each, ...(Object.fromEntries(personal) as object) };
    });
  }
}

interface OrderRow {
  /** All events of the order as JSON, with sealed personal fields. */
  readonly events: string;
}

const ORDERS = 'exchange.orders';
const OPEN = ['pending', 'paid', 'processing'] as const satisfies readonly OrderStatus[];

const toNumbers = (status?: OrderStatus): readonly number[] =>
  (status === undefined ? ORDER_STATUSES : [status]).map(statusNumber);

function foundOrder({ id, merchant_id, pair_id, amount_from, status }: OrderJson): Found {
  return { kind: 'order', id, merchant_id, title: `${pair_id} of ${amount_from}, ${status}` };
}

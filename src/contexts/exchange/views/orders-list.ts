import { Injectable } from '@nestjs/common';
import { fold, streamOf } from '../../../kernel/aggregate.js';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import type { JsonObject } from '../../../platform/event-store/port.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { Database } from '../../../platform/postgres/database.js';
import type { CreatedPage } from '../../../platform/postgres/list-page.js';
import { withinRanges, type RangedColumn } from '../../../platform/read-models/ranged-ids.js';
import { keysetPage, ReadModels } from '../../../platform/read-models/read-models.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { plainHash } from '../domain/addresses.js';
import { listedOrder, type ListedOrder } from '../domain/listed-order.js';
import {
  ORDER_STATUSES,
  PERSONAL_FIELDS,
  userHash,
  type OrderEvent,
  type OrderStatus,
} from '../domain/order-events.js';
import { order, type ExistingOrder } from '../domain/order.js';
import { foundOrder } from './order-details.js';
import { statusNumber } from './order-projection.js';
import { ListedOrderRow } from './order-row.js';

export interface OrdersListFilter {
  /** Of the API key that created them. */
  readonly keyId?: string | undefined;
  /** As the merchant named its user. */
  readonly userId?: string | undefined;
  readonly status?: OrderStatus | undefined;
  /** Only those with an amount to refund. */
  readonly isRefundable?: boolean;
}

export interface OrdersListPage {
  /** Null: of all merchants. */
  readonly merchants: readonly string[] | null;
  readonly filter: OrdersListFilter;
  readonly page: Pick<CreatedPage, 'pageSize' | 'after'>;
  /** Whether personal fields are opened; null otherwise. */
  readonly withPersonal: boolean;
}

/** Which orders are there, of one merchant, of some or of all? For people; `OrdersView` is for the exchange API. */
@Injectable()
export class OrdersList {
  constructor(
    private readonly readModels: ReadModels,
    private readonly database: Database,
    private readonly keyedHash: KeyedHash,
    private readonly codec: EventCodec,
  ) {}

  /** One page, newest first. */
  async page({ merchants, filter, page, withPersonal }: OrdersListPage) {
    const { keyId, userId, status, isRefundable = false } = filter;
    const query = await this.readModels.query(ListedOrderRow, 'listed');
    const conditions: string[] = [];
    const columns: RangedColumn[] = [];
    if (userId !== undefined)
      columns.push({
        column: 'user_hash',
        type: 'text',
        values: await this.hashesOf(userId, keyId, merchants),
      });
    else if (keyId !== undefined) columns.push({ column: 'key_id', type: 'uuid', values: [keyId] });
    // Orders to refund are few: their own index serves all merchants.
    else if (merchants !== null && !isRefundable)
      columns.push({ column: 'merchant_id', type: 'uuid', values: merchants });
    const statuses = (status === undefined ? ORDER_STATUSES : [status]).map(statusNumber);
    if (isRefundable) conditions.push('refundable > 0');
    if (isRefundable && columns.length === 0) conditions.push(`status in (${statuses.join(', ')})`);
    else columns.push({ column: 'status', type: 'smallint', values: statuses });
    if (merchants !== null && columns.every(({ column }) => column !== 'merchant_id'))
      conditions.push('merchant_id = any(:merchants::uuid[])');
    if (page.after !== undefined)
      conditions.push('(created_at, id) < (:placeTime::timestamptz, :placeId::uuid)');
    withinRanges(query, { table: 'exchange.orders', columns, conditions }, page);
    query.setParameters({ merchants });
    const { rows, next_cursor } = await keysetPage(query, page, { time: 'createdAt', id: 'id' });
    return { orders: await this.ordersOf(rows, withPersonal), next_cursor };
  }

  /** The newest with this deposit address, or a deposit, payment or refund of this hash; without personal fields. */
  @Searches('orders:read')
  async search({ text, uuid, merchants, limit }: SearchQuery): Promise<readonly Found[]> {
    if (uuid !== null) return [];
    const query = await this.readModels.query(ListedOrderRow, 'listed');
    query.where('listed.id in (select id from exchange.orders where search_keys @> array[:key])', {
      key: plainHash(text),
    });
    if (merchants !== null) query.andWhere('listed.merchantId = any(:merchants)', { merchants });
    const { rows } = await keysetPage(query, { pageSize: limit }, { time: 'createdAt', id: 'id' });
    return (await this.ordersOf(rows, false)).map(foundOrder);
  }

  /** Of the user under each key that has orders of a user of this name. */
  private async hashesOf(
    userId: string,
    keyId: string | undefined,
    merchants: readonly string[] | null,
  ): Promise<readonly string[]> {
    const keys = keyId === undefined ? await this.keys(merchants) : [keyId];
    const hashes = keys.map((key) => userHash(this.keyedHash, key, userId));
    const known = await this.database.query<{ hash: string }>(
      `select hash from unnest($1::text[]) as listed (hash)
       where exists (select from exchange.orders where user_hash = hash)`,
      [hashes],
    );
    return known.map(({ hash }) => hash);
  }

  /** Those that created orders, by leaps through the index. A key is of one merchant. */
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

  private async ordersOf(
    rows: readonly ListedOrderRow[],
    withPersonal: boolean,
  ): Promise<readonly ListedOrder[]> {
    const histories = rows.map(({ events }) => JSON.parse(events) as OrderEvent[]);
    const created = histories.map(([first]) => first as Extract<OrderEvent, { type: 'order.created.v1' }>);
    const opened = withPersonal
      ? await this.codec.open(
          created.map(({ type, data }) => ({
            stream: streamOf(order, data.order_id),
            type,
            data: data as unknown as JsonObject,
          })),
        )
      : created.map(({ type, data }) => ({ type, data: { ...data, ...HIDDEN_PERSON } }));
    return histories.map(([, ...later], place) => {
      const history = [opened[place] as unknown as OrderEvent, ...later];
      // A row is of an order that was created.
      return listedOrder(fold(order, history) as ExistingOrder);
    });
  }
}

/** For those who may not read who an order is for. */
export const HIDDEN_PERSON = Object.fromEntries(PERSONAL_FIELDS.map((field) => [field, null])) as Readonly<
  Record<(typeof PERSONAL_FIELDS)[number], null>
>;

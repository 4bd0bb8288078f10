import { Injectable } from '@nestjs/common';
import { streamOf } from '../../../kernel/aggregate.js';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import type { JsonObject } from '../../../platform/event-store/port.js';
import { encodeCursor } from '../../../platform/postgres/page-cursor.js';
import { bodyPage, mergedByStatus, type PagePlace } from '../../../platform/postgres/list-page.js';
import { Database } from '../../../platform/postgres/database.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { SEALED_TEXT } from '../../../platform/sealing/sealer.js';
import { order, type ExistingOrder } from '../domain/order.js';
import {
  ORDER_STATUSES,
  PERSONAL_FIELDS,
  userHash,
  type OrderEvent,
  type OrderStatus,
} from '../domain/order-events.js';
import type { OrderRecord } from '../domain/order-record.js';
import { countedSpans, foldOrder, HOUR_MS, scopeOf, statusNumber } from './order-projection.js';

/** The filter of GET /v1/merchant/orders (contract.md 24). */
export interface OrderFilter {
  /** Created at this time or later. */
  readonly from: Date;
  /** Created before this time. */
  readonly until: Date;
  readonly userId?: string | undefined;
  readonly status?: OrderStatus | undefined;
  readonly withdrawAddress?: string | undefined;
  readonly pageSize: number;
  /** The last place of the page before. */
  readonly after?: PagePlace | undefined;
}

/** Which orders has a key created, and how many? */
@Injectable()
export class OrdersView {
  constructor(
    private readonly database: Database,
    private readonly keyedHash: KeyedHash,
    private readonly codec: EventCodec,
  ) {}

  /** The JSON text of one page, newest first, with how many orders there are on all pages, at one instant. */
  async page(keyId: string, filter: OrderFilter): Promise<string> {
    const { sql, params, total } = orderPageQuery(keyId, filter, this.keyedHash);
    const { pageSize } = filter;
    const page = await bodyPage(this.database, { sql, params, pageSize, companion: total });
    const cursor = page.last === null ? 'null' : `"${encodeCursor(page.last)}"`;
    const orders = await this.opened(page.bodies);
    return `{"total_count":${page.companion},"orders":[${orders}],"next_cursor":${cursor}}`;
  }

  /** Ids of all orders of a user of the key. */
  async ofUser(keyId: string, userId: string): Promise<readonly string[]> {
    const { value } = scopeOf({ keyId, userHash: userHash(this.keyedHash, keyId, userId) });
    const rows = await this.database.query<{ id: string }>(
      'select id from exchange.orders where user_scope = $1 order by created_at, id',
      [value],
    );
    return rows.map(({ id }) => id);
  }

  /** Bodies with commas between them, their personal fields in clear; null once they are erased. */
  private async opened(bodies: string): Promise<string> {
    if (!bodies.includes(`"${SEALED_TEXT}`)) return bodies;
    const records = JSON.parse(`[${bodies}]`) as OrderRecord[];
    const opened = await this.codec.open(
      records.map(({ id, user_id, withdraw_address_tag, withdraw_address_memo }) => ({
        stream: streamOf(order, id),
        type: 'order.created.v1',
        data: { order_id: id, user_id, withdraw_address_tag, withdraw_address_memo },
      })),
    );
    const texts = records.map((record, n) => {
      const personal = PERSONAL_FIELDS.map((name) => [name, opened[n]!.data[name]]);
      return JSON.stringify({ ...record, ...Object.fromEntries(personal) });
    });
    return texts.join(',');
  }
}

/** The statement of a page. */
interface OrderPageQuery {
  readonly sql: string;
  readonly params: readonly (string | Date)[];
  /** How many there are on all pages. */
  readonly total: string;
}

function orderPageQuery(
  keyId: string,
  { from, until, userId, status, withdrawAddress, pageSize, after }: OrderFilter,
  keyedHash: KeyedHash,
): OrderPageQuery {
  const hash = userId === undefined ? undefined : userHash(keyedHash, keyId, userId);
  const { column, value } = scopeOf({ keyId, userHash: hash, withdrawAddress });
  const statuses = status === undefined ? ORDER_STATUSES : [status];
  const numbers = statuses.map(statusNumber);
  const params: (string | Date)[] = [];
  const parameter = (given: string | Date, type: string): string => `$${params.push(given)}::${type}`;
  const ofScope = `${column} = ${parameter(value, 'uuid')}`;
  const time = (given: Date): string => parameter(given, 'timestamptz');
  const between = (start: Date, end: Date): string =>
    `${ofScope} and created_at >= ${time(start)} and created_at < ${time(end)}`;
  const rows = (start: Date, end: Date): string =>
    `(select count(*) from exchange.orders where ${between(start, end)} and status in (${numbers.join(', ')}))`;

  const conditions = [between(from, until)];
  if (after !== undefined)
    conditions.push(`(created_at, id) < (${time(after.createdAt)}, ${parameter(after.id, 'uuid')})`);
  const sql = mergedByStatus('exchange.orders', conditions, numbers, pageSize);

  // Whole days and hours are counted already; what is before the first and after the last of them is counted row by row.
  const counts = (hours: number, start: Date, end: Date): string =>
    `(select coalesce(sum(${statuses.join(' + ')}), 0)::bigint from exchange.order_counts
      where scope = $1::uuid and hours = ${hours} and starts_at >= ${time(start)} and starts_at < ${time(end)})`;
  const count = (start: Date, end: Date, [hours, ...finer]: readonly number[]): string => {
    if (hours === undefined) return rows(start, end);
    const span = hours * HOUR_MS;
    const first = new Date(Math.ceil(start.getTime() / span) * span);
    const last = new Date(Math.floor(end.getTime() / span) * span);
    if (first >= last) return count(start, end, finer);
    return `${count(start, first, finer)} + ${counts(hours, first, last)} + ${count(last, end, finer)}`;
  };
  return { sql, params, total: count(from, until, countedSpans(column)) };
}

export interface ChangedOrder {
  readonly id: string;
  readonly revision: number;
  readonly state: ExistingOrder;
}

/** Which of these orders have changed? */
@Injectable()
export class OrderChanges {
  constructor(
    private readonly database: Database,
    private readonly codec: EventCodec,
  ) {}

  /** Those that are newer than the known revision, in one query. */
  async since(known: ReadonlyMap<string, number>): Promise<readonly ChangedOrder[]> {
    const rows = await this.database.query<{ id: string; revision: string; events: string }>(
      `select o.id, o.revision, o.events from unnest($1::uuid[], $2::bigint[]) as known (id, revision)
       join exchange.orders o on o.id = known.id and o.revision > known.revision`,
      [[...known.keys()], [...known.values()]],
    );
    return Promise.all(
      rows.map(async ({ id, revision: text, events: stored }) => {
        const revision = Number(text);
        const sealed = (JSON.parse(stored) as { type: string; data: JsonObject }[]).map((event) => ({
          ...event,
          stream: streamOf(order, id),
        }));
        const events = (await this.codec.open(sealed)) as unknown as OrderEvent[];
        // A row is of an order that was created.
        return { id, revision, state: foldOrder({ revision, events }) as ExistingOrder };
      }),
    );
  }
}

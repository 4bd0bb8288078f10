import { Injectable } from '@nestjs/common';
import { encodeCursor } from '../../../platform/http/page-cursor.js';
import { bodyPage, mergedByStatus } from '../../../platform/postgres/body-page.js';
import type { PagePlace } from '../../../platform/postgres/created-page.js';
import { Database } from '../../../platform/postgres/database.js';
import { ORDER_STATUSES, type OrderStatus } from '../domain/order-events.js';
import { countedSpans, HOUR_MS, scopeOf, statusNumber } from './order-fold.js';

/** What GET /v1/merchant/orders asks for (contract.md 24). */
export interface OrderFilter {
  /** Made at this time or later. */
  readonly from: Date;
  /** Made before this time. */
  readonly until: Date;
  readonly userId?: string | undefined;
  readonly status?: OrderStatus | undefined;
  readonly withdrawAddress?: string | undefined;
  readonly pageSize: number;
  /** The last place of the page before. */
  readonly after?: PagePlace | undefined;
}

const TABLES = ['exchange.orders', 'exchange.order_counts'];

/** Which orders has a key made, and how many? */
@Injectable()
export class OrdersView {
  constructor(private readonly database: Database) {}

  /** The JSON text of one page, newest first, in UTF-8, with how many orders there are on all pages, at one instant. */
  page(keyId: string, filter: OrderFilter): Promise<Buffer> {
    const { sql, params, total } = orderPageQuery(keyId, filter);
    const { pageSize } = filter;
    return bodyPage(
      this.database,
      { sql, tables: TABLES, params, pageSize, beside: total },
      ({ bodies, last, beside }) => {
        const cursor = last === null ? 'null' : `"${encodeCursor(last)}"`;
        const before = `{"total_count":${beside!.readBigInt64BE()},"orders":[`;
        return Buffer.concat([Buffer.from(before), bodies, Buffer.from(`],"next_cursor":${cursor}}`)]);
      },
    );
  }
}

/** The statement of a page. */
export interface OrderPageQuery {
  readonly sql: string;
  readonly params: readonly (string | Date)[];
  /** How many there are on all pages. */
  readonly total: string;
}

export function orderPageQuery(
  keyId: string,
  { from, until, userId, status, withdrawAddress, pageSize, after }: OrderFilter,
): OrderPageQuery {
  const { column, value } = scopeOf({ keyId, userId, withdrawAddress });
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

import { Injectable } from '@nestjs/common';
import { encodeCursor } from '../../../platform/http/page-cursor.js';
import { bodyPage, mergedByStatus } from '../../../platform/postgres/body-page.js';
import type { PagePlace } from '../../../platform/postgres/created-page.js';
import { Database } from '../../../platform/postgres/database.js';
import { ORDER_STATUSES, type OrderStatus } from '../domain/order-events.js';
import { scopeOf, statusNumber } from './order-fold.js';

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

const HOUR_MS = 3_600_000;

/** Which orders has a key made, and how many? */
@Injectable()
export class OrdersView {
  constructor(private readonly database: Database) {}

  /** The JSON text of one page, newest first, in UTF-8, with how many orders there are on all pages, at one instant. */
  page(keyId: string, filter: OrderFilter): Promise<Buffer> {
    const { sql, params, total } = orderPageQuery(keyId, filter);
    const { pageSize } = filter;
    return bodyPage(this.database, { sql, params, pageSize, beside: total }, ({ bodies, last, beside }) => {
      const cursor = last === null ? 'null' : `"${encodeCursor(last)}"`;
      const before = `{"total_count":${beside!.readBigInt64BE()},"orders":[`;
      return Buffer.concat([Buffer.from(before), bodies, Buffer.from(`],"next_cursor":${cursor}}`)]);
    });
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
  const counted = (start: Date, end: Date): string =>
    `(select count(*) from exchange.orders where ${between(start, end)} and status in (${numbers.join(', ')}))`;

  const conditions = [between(from, until)];
  if (after !== undefined)
    conditions.push(`(created_at, id) < (${time(after.createdAt)}, ${parameter(after.id, 'uuid')})`);
  const sql = mergedByStatus('exchange.orders', conditions, numbers, pageSize);

  const firstHour = new Date(Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS);
  const lastHour = new Date(Math.floor(until.getTime() / HOUR_MS) * HOUR_MS);
  if (firstHour >= lastHour) return { sql, params, total: counted(from, until) };
  // Whole hours are counted already; what is before the first and after the last of them is counted row by row.
  const hours = `(select coalesce(sum(${statuses.join(' + ')}), 0)::bigint from exchange.order_counts
    where scope = $1::uuid and hour >= ${time(firstHour)} and hour < ${time(lastHour)})`;
  return { sql, params, total: `${counted(from, firstHour)} + ${hours} + ${counted(lastHour, until)}` };
}

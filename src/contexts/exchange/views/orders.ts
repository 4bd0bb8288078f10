import { Injectable } from '@nestjs/common';
import { streamOf } from '../../../kernel/aggregate.js';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import { encodeCursor } from '../../../platform/postgres/page-cursor.js';
import { bodyPage, mergedByStatus, type PagePlace } from '../../../platform/postgres/list-page.js';
import { Database } from '../../../platform/postgres/database.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { SEALED_TEXT } from '../../../platform/sealing/sealer.js';
import { order } from '../domain/order.js';
import { ORDER_STATUSES, PERSONAL_FIELDS, userHash, type OrderStatus } from '../domain/order-events.js';
import type { OrderRecord } from '../domain/order-record.js';
import { statusNumber } from './order-projection.js';

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
    const { from, until, userId, status, withdrawAddress, pageSize, after } = filter;
    const params: (string | Date)[] = [];
    const parameter = (given: string | Date, type: string): string => `$${params.push(given)}::${type}`;
    const conditions = [
      `key_id = ${parameter(keyId, 'uuid')}`,
      `created_at >= ${parameter(from, 'timestamptz')}`,
      `created_at < ${parameter(until, 'timestamptz')}`,
    ];
    if (userId !== undefined)
      conditions.push(`user_hash = ${parameter(userHash(this.keyedHash, keyId, userId), 'text')}`);
    if (withdrawAddress !== undefined)
      conditions.push(`withdraw_address = ${parameter(withdrawAddress, 'text')}`);
    const statuses = (status === undefined ? ORDER_STATUSES : [status]).map(statusNumber);
    const matching = `${conditions.join(' and ')} and status in (${statuses.join(', ')})`;
    const companion = `(select count(*) from exchange.orders where ${matching})`;
    if (after !== undefined)
      conditions.push(
        `(created_at, id) < (${parameter(after.createdAt, 'timestamptz')}, ${parameter(after.id, 'uuid')})`,
      );
    const sql = mergedByStatus('exchange.orders', conditions, statuses, pageSize);
    const page = await bodyPage(this.database, { sql, params, pageSize, companion });
    const cursor = page.last === null ? 'null' : `"${encodeCursor(page.last)}"`;
    const orders = await this.opened(page.bodies);
    return `{"total_count":${page.companion},"orders":[${orders}],"next_cursor":${cursor}}`;
  }

  /** The keyed hash that is for a user of the key in operations. */
  userHash(keyId: string, userId: string): string {
    return userHash(this.keyedHash, keyId, userId);
  }

  /** Ids of all orders of a user of the key. */
  ofUser(keyId: string, userId: string): Promise<readonly string[]> {
    return this.ofUserHash(keyId, this.userHash(keyId, userId));
  }

  async ofUserHash(keyId: string, hash: string): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      'select id from exchange.orders where key_id = $1 and user_hash = $2 order by created_at, id',
      [keyId, hash],
    );
    return rows.map(({ id }) => id);
  }

  /** Those that are newer than the known revision, in one query. */
  async changedSince(known: ReadonlyMap<string, number>): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      `select id from unnest($1::uuid[], $2::bigint[]) as known (id, revision)
       join exchange.orders o using (id) where o.revision > known.revision`,
      [[...known.keys()], [...known.values()]],
    );
    return rows.map(({ id }) => id);
  }

  /** For gauges. */
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

const OPEN = ['pending', 'paid', 'processing'] as const satisfies readonly OrderStatus[];

import { Injectable } from '@nestjs/common';
import { encodeCursor } from '../../../platform/postgres/page-cursor.js';
import { withJsonText } from '../../../platform/json-text/json-text.js';
import { pageConditions, type CreatedPage } from '../../../platform/postgres/list-page.js';
import { Database } from '../../../platform/postgres/database.js';
import type { EventType } from '../domain/webhook-endpoints.js';
import type { DeliveryStatus } from '../domain/retry.js';
import {
  DELIVERY_COLUMNS,
  deliveryJson,
  StoredDeliveries,
  type DeliveryColumns,
  type DeliveryJson,
} from '../store/stored-deliveries.js';

export interface DeliveryFilter extends CreatedPage {
  readonly status?: DeliveryStatus;
  readonly type?: EventType;
}

interface DeliveriesPage {
  readonly webhook_deliveries: readonly DeliveryJson[];
  readonly next_cursor: string | null;
}

/** The newest attempts of a delivery in the API: after many resends there may be more. */
export const LISTED_ATTEMPTS = 1000;

/**
 * Deliveries that one page may read: where a filter matches few of many, a page holds less than its size rather than
 * taking its time, and its cursor continues from there. Hot tables have no index for every filter.
 */
export const READ_AT_ONCE = 5000;

const NEWEST_FIRST = 'order by created_at desc, delivery_id desc';

/** Which deliveries were created, and what became of them? */
@Injectable()
export class DeliveriesView {
  constructor(
    private readonly database: Database,
    private readonly stored: StoredDeliveries,
  ) {}

  /**
   * The JSON text of one delivery with its attempts; null when there is none. The payload is the text that is signed,
   * spliced in: numbers and spaces are the receiver's to see as they are.
   */
  async detail(merchantId: string, deliveryId: string): Promise<string | null> {
    const [found, attempts] = await Promise.all([
      this.stored.find(merchantId, deliveryId),
      this.attempts(deliveryId),
    ]);
    if (!found) return null;
    const withPayload = withJsonText(found.json, 'payload', found.body);
    return `${withPayload.slice(0, -1)},"attempts":${JSON.stringify(attempts)}}`;
  }

  /** One page of the endpoint's deliveries, newest first. The caller has verified whose endpoint it is. */
  async page(endpointId: string, filter: DeliveryFilter): Promise<DeliveriesPage> {
    const params: (string | Date)[] = [endpointId];
    const parameter = (value: string | Date): string => `$${params.push(value)}`;
    const conditions = [
      ...(filter.status === undefined ? [] : [`state = ${parameter(filter.status)}`]),
      ...(filter.type === undefined ? [] : [`type = ${parameter(filter.type)}`]),
    ];
    const place = ['endpoint_id = $1', ...pageConditions(filter, 'delivery_id', parameter)];
    const max = conditions.length === 0 ? filter.pageSize + 1 : READ_AT_ONCE;
    // By the smaller index of what the endpoint did not get.
    if (filter.status === 'exhausted' || filter.status === 'dropped')
      place.push(`state in ('exhausted', 'dropped')`);
    const rows = await this.database.query<DeliveryColumns & { readonly matches: boolean }>(
      // A page that is not full continues after the last one that was read.
      `with read_rows as materialized (
           select ${DELIVERY_COLUMNS} from webhooks.deliveries where ${place.join(' and ')} ${NEWEST_FIRST} limit ${max}),
         matching as (
           select *, true as matches from read_rows where ${['true', ...conditions].join(' and ')}
           ${NEWEST_FIRST} limit ${filter.pageSize + 1})
       (select * from matching)
       union all
       (select *, false from read_rows ${NEWEST_FIRST} offset ${max - 1} limit 1)`,
      params,
    );
    const matching = rows.filter((row) => row.matches);
    const page = matching.slice(0, filter.pageSize);
    const last = matching.length > page.length ? page.at(-1) : rows.find((row) => !row.matches);
    return {
      webhook_deliveries: page.map(deliveryJson),
      next_cursor: last ? encodeCursor({ createdAt: last.created_at, id: last.delivery_id }) : null,
    };
  }

  private async attempts(deliveryId: string): Promise<object[]> {
    const rows = await this.database.query<{ response_excerpt: Buffer | null }>(
      `select attempt, started_at, duration_ms as latency_ms,
         case when outcome = 'succeeded' then outcome else 'failed' end as outcome, http_status,
         failure_phase as error_class, error, response_excerpt
       from webhooks.attempts where delivery_id = $1 order by attempt desc limit ${LISTED_ATTEMPTS}`,
      [deliveryId],
    );
    return rows
      .reverse()
      .map((row) => ({ ...row, response_excerpt: row.response_excerpt && textOf(row.response_excerpt) }));
  }
}

/** A character that was cut off at the end of the excerpt is left out; what is no UTF-8 becomes U+FFFD. */
function textOf(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true });
}

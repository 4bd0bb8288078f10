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
    const source =
      filter.status === 'pending' && (await this.hasFewPending(endpointId))
        ? allPending(place)
        : newest(place, filter, conditions.length === 0 ? filter.pageSize + 1 : READ_AT_ONCE);
    const rows = await this.database.query<DeliveryColumns & { readonly matches: boolean }>(
      // A page that is not full continues after the last one that was read.
      `with read_rows as materialized (${source.sql}),
         matching as (
           select *, true as matches from read_rows where ${['true', ...conditions].join(' and ')}
           ${NEWEST_FIRST} limit ${filter.pageSize + 1})
       (select * from matching)
       union all
       (select *, false from read_rows ${NEWEST_FIRST} offset ${source.max - 1} limit 1)`,
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

  private async hasFewPending(endpointId: string): Promise<boolean> {
    const [row] = await this.database.query<{ found: number }>(
      `select count(*)::int as found from (select 1 from webhooks.deliveries
         where endpoint_id = $1 and state = 'pending' and leased_by is null limit ${READ_AT_ONCE + 1}) pending`,
      [endpointId],
    );
    return row!.found <= READ_AT_ONCE;
  }
}

interface Source {
  readonly sql: string;
  /** Rows it returns at most; with fewer the list is at its end. */
  readonly max: number;
}

/** In the order of the index of the endpoint's deliveries, or of the smaller one of those that it did not get. */
function newest(place: readonly string[], { status }: DeliveryFilter, max: number): Source {
  const unsent = status === 'exhausted' || status === 'dropped' ? [`state in ('exhausted', 'dropped')`] : [];
  const conditions = [...place, ...unsent].join(' and ');
  return {
    sql: `select ${DELIVERY_COLUMNS} from webhooks.deliveries where ${conditions} ${NEWEST_FIRST} limit ${max}`,
    max,
  };
}

/** Through the indexes of the lanes: what is pending may be rare and far back among what succeeded. */
function allPending(place: readonly string[]): Source {
  const pending = (lease: string): string =>
    `select ${DELIVERY_COLUMNS} from webhooks.deliveries
     where ${place.join(' and ')} and state = 'pending' and leased_by is ${lease}`;
  return { sql: `${pending('null')} union all ${pending('not null')}`, max: Number.MAX_SAFE_INTEGER };
}

/** A character that was cut off at the end of the excerpt is left out; what is no UTF-8 becomes U+FFFD. */
function textOf(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true });
}

import { Injectable } from '@nestjs/common';
import type { CheckedTables } from '../../../platform/context.js';
import { withJsonText } from '../../../platform/json-text/json-text.js';
import { MAX_DUE, ReportsBacklog, type BacklogState } from '../../../platform/operations/system-report.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { Database } from '../../../platform/postgres/database.js';
import {
  DELIVERY_JSON,
  deliveryPage,
  toMerchantJson,
  type DeliveriesPage,
  type DeliveriesFilter,
  type DeliveryJson,
} from './delivery-page.view.js';

/** The limit of endpoints that a page merges. Above it, a list reads by time and filters by merchant. */
const MAX_LANES = 1000;

/** The limit of attempts that the API lists for a delivery. Resends may create more. */
export const LISTED_ATTEMPTS = 1000;

/** The read model of deliveries. A null merchant matches any merchant. */
@Injectable()
export class DeliveriesView {
  constructor(private readonly database: Database) {}

  /** Returns a delivery, also of a deleted endpoint, or null. `body` is the exact signed text. */
  async find(merchantId: string | null, deliveryId: string) {
    const [row] = await this.database.query<
      DeliveryJson & { body: string; is_test: boolean; in_flight: boolean }
    >(
      `select ${DELIVERY_JSON}, d.body, d.is_test, d.leased_by is not null as in_flight
       from webhooks.deliveries d where delivery_id = $1 and ($2::uuid is null or merchant_id = $2)`,
      [deliveryId, merchantId],
    );
    if (!row) return null;
    const { body, is_test, in_flight, ...json } = row;
    return { json: json as DeliveryJson, body, is_test, in_flight };
  }

  /** Counts the due deliveries of enabled endpoints. */
  @ReportsBacklog('webhooks.deliveries')
  async backlog(): Promise<BacklogState> {
    const [row] = await this.database.query<{ due: number; oldest_at: Date | null }>(
      `select count(*)::int as due, min(due_at) as oldest_at from (
         select delivery.due_at from webhooks.endpoint_snapshots endpoint cross join lateral (
           select due_at from webhooks.deliveries delivery
           where delivery.endpoint_id = endpoint.endpoint_id and state = 'pending' and leased_by is null
             and due_at <= now()
           order by due_at limit ${MAX_DUE}
         ) delivery
         where endpoint.status = 'enabled' limit ${MAX_DUE}
       ) due`,
    );
    return { name: 'webhooks.deliveries', due: row!.due, oldest_at: row!.oldest_at?.toISOString() ?? null };
  }

  /** Returns a delivery with its attempts as JSON, or null. The payload is the signed text, byte for byte. */
  async detail(merchantId: string | null, deliveryId: string) {
    const [found, attempts] = await Promise.all([
      this.find(merchantId, deliveryId),
      this.attempts(deliveryId),
    ]);
    if (found === null) return null;
    const { merchant_id, attempt_count, finished_at } = found.json;
    const json = merchantId === null ? found.json : toMerchantJson(found.json);
    return {
      merchantId: merchant_id,
      // The revision changes with each attempt, end and resend.
      revision: 2 * attempt_count + (finished_at === null ? 0 : 1),
      text: `${withJsonText(json, 'payload', found.body).slice(0, -1)},"attempts":${JSON.stringify(attempts)}}`,
    };
  }

  @Searches('webhooks:read')
  async search({ uuid }: SearchQuery): Promise<readonly Found[]> {
    const found = uuid === null ? null : await this.find(null, uuid);
    if (found === null) return [];
    const { id, merchant_id, type, status } = found.json;
    return [{ kind: 'delivery', id, merchant_id, title: `Delivery of ${type}, ${status}` }];
  }

  /** Returns a page, newest first. A page with few deliveries, or none, may still have a cursor. */
  async list(merchants: readonly string[] | null, filter: DeliveriesFilter): Promise<DeliveriesPage> {
    const endpoints = await this.findEndpoints(merchants, filter.endpoint_id);
    const lanes =
      endpoints !== null && endpoints.length > MAX_LANES ? { endpoints: null, merchants } : { endpoints };
    return deliveryPage(this.database, lanes, filter);
  }

  /** Returns the endpoint ids to list, at most MAX_LANES + 1 of them deleted, or null for all endpoints. */
  private async findEndpoints(
    merchantIds: readonly string[] | null,
    endpointId: string | undefined,
  ): Promise<readonly string[] | null> {
    if (merchantIds === null) return endpointId === undefined ? null : [endpointId];
    const rows = await this.database.query<{ endpoint_id: string }>(
      endpointId === undefined
        ? `(select endpoint_id from webhooks.endpoint_snapshots where merchant_id = any($1::uuid[]) and status <> 'deleted')
           union all
           (select endpoint_id from webhooks.endpoint_snapshots where merchant_id = any($1::uuid[]) and status = 'deleted'
            limit ${MAX_LANES + 1})`
        : `select endpoint_id from webhooks.endpoint_snapshots where merchant_id = any($1::uuid[]) and endpoint_id = $2`,
      endpointId === undefined ? [merchantIds] : [merchantIds, endpointId],
    );
    return rows.map(({ endpoint_id }) => endpoint_id);
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
      .map((row) => ({ ...row, response_excerpt: row.response_excerpt && toText(row.response_excerpt) }));
  }
}

/** Decodes UTF-8 and drops an incomplete character at the end. Invalid bytes become U+FFFD. */
function toText(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true });
}

export interface DeliveryRecord {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly type: string;
  readonly body: string;
  readonly is_test: boolean;
  readonly state: string;
  readonly attempts: number;
  readonly attempt_list: readonly { readonly http_status: number | null; readonly error: string | null }[];
}

export function readDeliveries(
  query: CheckedTables['query'],
  ids: readonly string[],
): Promise<readonly DeliveryRecord[]> {
  return query<DeliveryRecord>(
    `select delivery_id, endpoint_id, merchant_id, type, body, is_test, state, attempts, created_at, finished_at,
       due_at, resent_position, coalesce((
         select json_agg(a order by attempt)
         from (select attempt, started_at, duration_ms, outcome, http_status, failure_phase, error
               from webhooks.attempts where attempts.delivery_id = deliveries.delivery_id) a), '[]') as attempt_list
     from webhooks.deliveries where delivery_id = any($1::uuid[]) order by created_at, delivery_id`,
    [ids],
  );
}

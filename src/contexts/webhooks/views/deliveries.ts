import { Injectable } from '@nestjs/common';
import { withJsonText } from '../../../platform/json-text/json-text.js';
import { MAX_DUE, ReportsBacklog, type BacklogState } from '../../../platform/operations/system-report.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { Database } from '../../../platform/postgres/database.js';
import {
  DELIVERY_JSON,
  deliveryPage,
  toMerchantJson,
  type DeliveryFilter,
  type DeliveryJson,
} from './delivery-page.js';

export interface DeliveriesPage {
  readonly deliveries: readonly DeliveryJson[];
  readonly next_cursor: string | null;
}

export interface DeliveriesFilter extends DeliveryFilter {
  readonly endpoint_id?: string | undefined;
}

/** Endpoints whose deliveries one page merges. Who has deleted more of them has pages that hold less. */
const MAX_LANES = 1000;

/** The newest attempts of a delivery in the API: after many resends there may be more. */
export const LISTED_ATTEMPTS = 1000;

export interface FoundDelivery {
  readonly json: DeliveryJson;
  /** The exact text that is signed and sent. */
  readonly body: string;
  readonly isTest: boolean;
  readonly inFlight: boolean;
}

/** Deliveries with their attempts. Operators get those of all merchants. */
@Injectable()
export class DeliveriesView {
  constructor(private readonly database: Database) {}

  /** One delivery, also of an endpoint that was deleted; null when there is none. A null merchant is any. */
  async find(merchantId: string | null, deliveryId: string): Promise<FoundDelivery | null> {
    const [row] = await this.database.query<
      DeliveryJson & { body: string; is_test: boolean; in_flight: boolean }
    >(
      `select ${DELIVERY_JSON}, d.body, d.is_test, d.leased_by is not null as in_flight
       from webhooks.deliveries d where delivery_id = $1 and ($2::uuid is null or merchant_id = $2)`,
      [deliveryId, merchantId],
    );
    if (!row) return null;
    const { body, is_test: isTest, in_flight: inFlight, ...json } = row;
    return { json, body, isTest, inFlight };
  }

  /** Due deliveries of enabled endpoints: what is pending for others waits until they are enabled. */
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

  /**
   * The JSON text of one delivery with its attempts; null when there is none. The payload is the text that is signed,
   * spliced in: numbers and spaces are the receiver's to see as they are. `revision` is another one after each attempt, end
   * and resend. A null merchant is any: then the text names whose it is.
   */
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

  /**
   * One page of the deliveries of these merchants, newest first; null: of all. It may hold fewer deliveries than its size, or
   * none, and continue all the same.
   */
  async list(merchants: readonly string[] | null, filter: DeliveriesFilter): Promise<DeliveriesPage> {
    const endpoints = await this.findEndpoints(merchants, filter.endpoint_id);
    const lanes =
      endpoints !== null && endpoints.length > MAX_LANES ? { endpoints: null, merchants } : { endpoints };
    const { rows: deliveries, next_cursor } = await deliveryPage(this.database, lanes, filter);
    return { deliveries, next_cursor };
  }

  /** The endpoints of these merchants (null: all), deleted ones too; at most one more than a page can merge. */
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

/** A character that was cut off at the end of the excerpt is left out; what is no UTF-8 becomes U+FFFD. */
function toText(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true });
}

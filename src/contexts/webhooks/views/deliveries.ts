import { Injectable } from '@nestjs/common';
import { withJsonText } from '../../../platform/json-text/json-text.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { Database } from '../../../platform/postgres/database.js';
import {
  deliveryJson,
  StoredDeliveries,
  type AdminDeliveryJson,
  type DeliveryJson,
} from '../store/stored-deliveries.js';
import { deliveryPage, type DeliveryFilter } from './delivery-page.js';

interface DeliveriesPage {
  readonly webhook_deliveries: readonly DeliveryJson[];
  readonly next_cursor: string | null;
}

/** The newest attempts of a delivery in the API: after many resends there may be more. */
export const LISTED_ATTEMPTS = 1000;

/** Which deliveries were created, and what became of them? */
@Injectable()
export class DeliveriesView {
  constructor(
    private readonly database: Database,
    private readonly stored: StoredDeliveries,
  ) {}

  /**
   * The JSON text of one delivery with its attempts; null when there is none. The payload is the text that is signed,
   * spliced in: numbers and spaces are the receiver's to see as they are. `revision` is another one after each attempt, end
   * and resend. A null merchant is any: then the text names whose it is.
   */
  async detail(merchantId: string | null, deliveryId: string) {
    const [found, attempts] = await Promise.all([
      this.stored.find(merchantId, deliveryId),
      this.attempts(deliveryId),
    ]);
    if (found === null) return null;
    const json = merchantId === null ? { ...found.json, merchant_id: found.merchantId } : found.json;
    return {
      merchantId: found.merchantId,
      revision: 2 * json.attempt_count + (json.finished_at === null ? 0 : 1),
      text: `${withJsonText(json, 'payload', found.body).slice(0, -1)},"attempts":${JSON.stringify(attempts)}}`,
    };
  }

  /** A delivery of any merchant, as lists of operators hold it; null when there is none. */
  async find(deliveryId: string): Promise<AdminDeliveryJson | null> {
    const found = await this.stored.find(null, deliveryId);
    return found && { ...found.json, merchant_id: found.merchantId };
  }

  @Searches('webhooks:read')
  async search({ uuid }: SearchQuery): Promise<readonly Found[]> {
    const found = uuid === null ? null : await this.find(uuid);
    if (found === null) return [];
    const { id, merchant_id, type, status } = found;
    return [{ kind: 'delivery', id, merchant_id, title: `Delivery of ${type}, ${status}` }];
  }

  /** One page of the endpoint's deliveries, newest first. The caller has verified whose endpoint it is. */
  async page(endpointId: string, filter: DeliveryFilter): Promise<DeliveriesPage> {
    const { rows, next_cursor } = await deliveryPage(this.database, [endpointId], filter);
    return { webhook_deliveries: rows.map(deliveryJson), next_cursor };
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

import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { AttemptJson, DeliveryJson } from '../domain/delivery-json.js';
import { DELIVERY_COLUMNS, deliveryJson, type DeliveryColumns } from './delivery-columns.js';
import { listDeliveries, type DeliveryFilter, type DeliveryPage } from './list-deliveries.js';

/** The newest attempts of a delivery that are shown: after many resends there may be more. */
export const ATTEMPTS_SHOWN = 1000;

/** One delivery and what only its detail tells. */
export interface FoundDelivery {
  readonly json: DeliveryJson;
  /** The exact text that is signed and sent. */
  readonly body: string;
  readonly isTest: boolean;
  /** A process is sending it right now. */
  readonly underWay: boolean;
}

interface AttemptRow {
  readonly [column: string]: unknown;
  readonly attempt: number;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly outcome: string;
  readonly http_status: number | null;
  readonly failure_phase: string | null;
  readonly error: string | null;
  readonly response_excerpt: Buffer | null;
}

/** What became of the deliveries to an endpoint? */
@Injectable()
export class DeliveriesView {
  constructor(private readonly database: Database) {}

  list(endpointId: string, filter: DeliveryFilter): Promise<DeliveryPage> {
    return listDeliveries(this.database, endpointId, filter);
  }

  /** One delivery of the merchant, also of an endpoint that was deleted; null when there is none. */
  async find(merchantId: string, deliveryId: string): Promise<FoundDelivery | null> {
    const [row] = await this.database.query<
      DeliveryColumns & { readonly body: string; readonly is_test: boolean; readonly under_way: boolean }
    >(
      `select ${DELIVERY_COLUMNS}, body, is_test, leased_by is not null as under_way
       from webhooks.deliveries where delivery_id = $1 and merchant_id = $2`,
      [deliveryId, merchantId],
    );
    if (!row) return null;
    return { json: deliveryJson(row), body: row.body, isTest: row.is_test, underWay: row.under_way };
  }

  /** The last {@link ATTEMPTS_SHOWN} attempts of a delivery, oldest first. */
  async attemptsOf(deliveryId: string): Promise<AttemptJson[]> {
    const rows = await this.database.query<AttemptRow>(
      `select attempt, started_at, duration_ms, outcome, http_status, failure_phase, error, response_excerpt
       from webhooks.attempts where delivery_id = $1 order by attempt desc limit ${ATTEMPTS_SHOWN}`,
      [deliveryId],
    );
    return rows.reverse().map((row) => ({
      attempt: row.attempt,
      started_at: row.started_at.toISOString(),
      latency_ms: row.duration_ms,
      outcome: row.outcome === 'succeeded' ? 'succeeded' : 'failed',
      http_status: row.http_status,
      error_class: row.failure_phase,
      error: row.error,
      response_excerpt: row.response_excerpt === null ? null : textOf(row.response_excerpt),
    }));
  }
}

/** A character that was cut off at the end of the excerpt is left out; what is no UTF-8 becomes U+FFFD. */
function textOf(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true });
}

import { Injectable } from '@nestjs/common';
import type { CheckedTables } from '../../../platform/context.js';
import { ApiProperty } from '../../../platform/dto/field.js';
import { COUNT, TIME, UUID } from '../../../platform/dto/rules.js';
import { MAX_DUE, ReportsBacklog, type BacklogState } from '../../../platform/operations/system-report.js';
import { everyRow } from '../../../platform/postgres/batches.js';
import { Database } from '../../../platform/postgres/database.js';
import type { EndpointSnapshot } from '../domain/endpoint-snapshot.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../domain/retry.js';
import { EVENT_TYPES } from '../domain/webhook-endpoints.js';

/** A delivery as lists show it; an extension of the specification. */
export class WebhookDelivery {
  @ApiProperty({ ...UUID, description: 'The `webhook-id` header; the same for every attempt and resend.' })
  id!: string;

  @ApiProperty(UUID) webhook_endpoint_id!: string;
  @ApiProperty({ type: 'string', enum: EVENT_TYPES }) type!: string;

  @ApiProperty({
    type: 'string',
    enum: DELIVERY_STATUSES,
    description:
      '`exhausted`: it is not tried again. `dropped`: the endpoint was disabled or deleted; nothing was sent. Both can be sent after all by resend and recover.',
  })
  status!: DeliveryStatus;

  @ApiProperty(COUNT) attempt_count!: number;
  @ApiProperty(TIME) created_at!: Date;

  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'Null unless pending. In the past while an attempt is in flight.',
  })
  next_attempt_at!: Date | null;

  @ApiProperty({ ...TIME, nullable: true, description: 'Null while pending.' }) finished_at!: Date | null;
}

/** A delivery with its merchant, as operators and the portal get it. */
export type DeliveryJson = WebhookDelivery & { readonly merchant_id: string };

/** The members of {@link DeliveryJson}, of a row `d` of `webhooks.deliveries`. */
export const DELIVERY_JSON = `d.delivery_id as id, d.endpoint_id as webhook_endpoint_id, d.merchant_id, d.type,
  d.state as status, d.attempts as attempt_count, d.created_at,
  case when d.state = 'pending' then d.due_at end as next_attempt_at, d.finished_at`;

/** The delivery as its merchant gets it. */
export function toMerchantJson({ merchant_id: _, ...json }: DeliveryJson) {
  return json;
}

export interface FoundDelivery {
  readonly json: DeliveryJson;
  /** The exact text that is signed and sent. */
  readonly body: string;
  readonly isTest: boolean;
  readonly inFlight: boolean;
}

@Injectable()
export class StoredDeliveries {
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
}

/** What of a delivery is fixed when it is created, and its MAC. */
interface AuditedRow {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly type: string;
  readonly is_test: boolean;
  readonly body: string;
  readonly mac: string | null;
}

/** What the check of deliveries reads. */
export class CheckedDeliveries {
  constructor(private readonly tables: Pick<CheckedTables, 'query'>) {}

  /** Unix milliseconds, by the clock that deliveries are dated with. */
  async now(): Promise<number> {
    const [row] = await this.tables.query<{ now: Date }>('select now()', []);
    return row!.now.getTime();
  }

  async snapshots(): Promise<readonly EndpointSnapshot[]> {
    return this.tables.query<EndpointSnapshot>(
      `select endpoint_id, merchant_id, url, description, event_types, status, disabled_cause, disabled_at, created_at,
         updated_at, sealed_signing_secret, former_secrets from webhooks.endpoint_snapshots`,
      [],
    );
  }

  /** Those of these ids that are stored. */
  async existing(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.tables.query<{ readonly id: string }>(
      'select delivery_id as id from webhooks.deliveries where delivery_id = any($1::uuid[])',
      [ids],
    );
    return new Set(rows.map(({ id }) => id));
  }

  all(read: (row: AuditedRow) => void): Promise<void> {
    return everyRow<AuditedRow>(
      this.tables.query,
      `select delivery_id, endpoint_id, merchant_id, type, is_test, body, mac from webhooks.deliveries
       where $1::uuid is null or delivery_id > $1 order by delivery_id limit $2`,
      ({ delivery_id: id }) => id,
      read,
    );
  }
}

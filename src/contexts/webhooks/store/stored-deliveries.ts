import { Injectable } from '@nestjs/common';
import type { CheckedTables } from '../../../platform/context.js';
import { MAX_DUE, ReportsBacklog, type DueBacklog } from '../../../platform/operations/system-report.js';
import { everyRow } from '../../../platform/postgres/batches.js';
import { Database } from '../../../platform/postgres/database.js';
import type { EndpointSnapshot } from '../domain/endpoint-snapshot.js';
import type { DeliveryStatus } from '../domain/retry.js';

export const DELIVERY_COLUMNS =
  'delivery_id, endpoint_id, merchant_id, type, state, attempts, created_at, due_at, finished_at' as const;

export interface DeliveryColumns {
  readonly [column: string]: unknown;
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly type: string;
  readonly state: DeliveryStatus;
  readonly attempts: number;
  readonly created_at: Date;
  readonly due_at: Date;
  readonly finished_at: Date | null;
}

export type DeliveryJson = ReturnType<typeof deliveryJson>;

/** A delivery as lists return it; an extension of the specification. */
export function deliveryJson(row: DeliveryColumns) {
  return {
    id: row.delivery_id,
    webhook_endpoint_id: row.endpoint_id,
    type: row.type,
    status: row.state,
    attempt_count: row.attempts,
    created_at: row.created_at.toISOString(),
    next_attempt_at: row.state === 'pending' ? row.due_at.toISOString() : null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

/** As operators and the portal get it: with whose it is. */
export type AdminDeliveryJson = DeliveryJson & { readonly merchant_id: string };

export interface FoundDelivery {
  readonly json: DeliveryJson;
  readonly merchantId: string;
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
      DeliveryColumns & { readonly body: string; readonly is_test: boolean; readonly in_flight: boolean }
    >(
      `select ${DELIVERY_COLUMNS}, body, is_test, leased_by is not null as in_flight
       from webhooks.deliveries where delivery_id = $1 and ($2::uuid is null or merchant_id = $2)`,
      [deliveryId, merchantId],
    );
    if (!row) return null;
    const { merchant_id: owner, body, is_test: isTest, in_flight: inFlight } = row;
    return { json: deliveryJson(row), merchantId: owner, body, isTest, inFlight };
  }

  /** Due deliveries of enabled endpoints: what is pending for others waits until they are enabled. */
  @ReportsBacklog('webhooks.deliveries')
  async backlog(): Promise<DueBacklog> {
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

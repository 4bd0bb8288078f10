import type { CheckedTables } from '../../../platform/context.js';
import type { EndpointSnapshot } from '../domain/endpoint-snapshot.js';
import { everyRow } from '../../../platform/postgres/chunks.js';

export interface AuditedDelivery {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly type: string;
  readonly body: string;
  readonly is_test: boolean;
  readonly state: string;
  readonly attempts: number;
  readonly created_at: Date;
  readonly finished_at: Date | null;
  readonly due_at: Date;
  readonly resent_position: string | null;
}

export interface AuditedAttempt {
  readonly delivery_id: string;
  readonly attempt: number;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly outcome: string;
  readonly http_status: number | null;
  readonly failure_phase: string | null;
  readonly error: string | null;
  readonly response_excerpt: Buffer | null;
}

export class AuditedDeliveries {
  constructor(private readonly query: CheckedTables['query']) {}

  /** Those with these ids that are still kept, oldest first. */
  withIds(ids: readonly string[]): Promise<readonly AuditedDelivery[]> {
    return this.query<AuditedDelivery>(
      `select delivery_id, endpoint_id, merchant_id, type, body, is_test, state, attempts, created_at, finished_at,
         due_at, resent_position
       from webhooks.deliveries where delivery_id = any($1::uuid[]) order by created_at, delivery_id`,
      [ids],
    );
  }

  attempts(deliveryIds: readonly string[]): Promise<readonly AuditedAttempt[]> {
    return this.query<AuditedAttempt>(
      `select delivery_id, attempt, started_at, duration_ms, outcome, http_status, failure_phase, error, response_excerpt
       from webhooks.attempts where delivery_id = any($1::uuid[]) order by delivery_id, attempt`,
      [deliveryIds],
    );
  }
}

/** What of a delivery is fixed when it is created; `is_test` is `true` or `false`. */
type StoredDelivery = Pick<AuditedDelivery, Ids | 'type' | 'body'> & { readonly is_test: string };
type Ids = 'delivery_id' | 'endpoint_id' | 'merchant_id';

/** How far a delivery is, and the outcome of its last attempt. */
export interface StoredState extends Pick<AuditedDelivery, Ids | 'created_at' | 'resent_position'> {
  readonly state: 'pending' | 'succeeded' | 'exhausted' | 'dropped';
  readonly outcome: string | null;
}

export class StoredDeliveries {
  constructor(private readonly tables: Pick<CheckedTables, 'query'>) {}

  /** Unix milliseconds, by the clock that deliveries are dated with. */
  async now(): Promise<number> {
    const [row] = await this.tables.query<{ now: Date }>('select now()', []);
    return row!.now.getTime();
  }

  async snapshots(): Promise<readonly EndpointSnapshot[]> {
    return this.tables.query<EndpointSnapshot>(
      `select endpoint_id, merchant_id, url, event_types, status, sealed_signing_secret, former_secrets from webhooks.endpoint_snapshots`,
      [],
    );
  }

  async withIds(ids: readonly string[]): Promise<ReadonlyMap<string, StoredDelivery>> {
    const rows = await this.tables.query<StoredDelivery>(
      `select delivery_id, endpoint_id, merchant_id, type, is_test::text as is_test, body
       from webhooks.deliveries where delivery_id = any($1::uuid[])`,
      [ids],
    );
    return new Map(rows.map((row) => [row.delivery_id, row]));
  }

  states(read: (row: StoredState) => void): Promise<void> {
    return everyRow<StoredState>(
      this.tables.query,
      `select d.delivery_id, d.endpoint_id, merchant_id, state, created_at, resent_position, outcome
       from webhooks.deliveries d
       left join webhooks.attempts a on a.delivery_id = d.delivery_id and a.attempt = d.attempts
       where $1::uuid is null or d.delivery_id > $1 order by d.delivery_id limit $2`,
      ({ delivery_id: id }) => id,
      read,
    );
  }
}

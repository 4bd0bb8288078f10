import type { Database } from '../../../platform/postgres/database.js';

export interface KeptDelivery {
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

export interface KeptAttempt {
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

/** What tables keep beside the log, and no event tells: receipts, deliveries and their attempts. */
export class KeptBeside {
  constructor(private readonly database: Pick<Database, 'query'>) {}

  /** Deliveries with these ids that are still kept, oldest first. */
  async deliveries(ids: readonly string[]): Promise<readonly KeptDelivery[]> {
    return this.database.query<KeptDelivery & Record<string, unknown>>(
      `select delivery_id, endpoint_id, merchant_id, type, body, is_test, state, attempts, created_at, finished_at,
         due_at, resent_position
       from webhooks.deliveries where delivery_id = any($1::uuid[]) order by created_at, delivery_id`,
      [ids],
    );
  }

  /** Of these deliveries, in their order. */
  async attempts(deliveryIds: readonly string[]): Promise<readonly KeptAttempt[]> {
    return this.database.query<KeptAttempt & Record<string, unknown>>(
      `select delivery_id, attempt, started_at, duration_ms, outcome, http_status, failure_phase, error, response_excerpt
       from webhooks.attempts where delivery_id = any($1::uuid[]) order by delivery_id, attempt`,
      [deliveryIds],
    );
  }

  /** How many bytes a receipt has, and whether they have the SHA-256 that they are kept under; null: none is kept. */
  async receipt(sha256: string): Promise<{ readonly bytes: number; readonly intact: boolean } | null> {
    const [row] = await this.database.query<{ bytes: number; intact: boolean }>(
      `select octet_length(receipt) as bytes, sha256 = sha256(convert_to(receipt, 'UTF8')) as intact
       from payouts.receipts where sha256 = decode($1, 'hex')`,
      [sha256],
    );
    return row ?? null;
  }
}

import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { DeliveryStatus } from '../domain/retry.js';
import type { DisableCause } from '../domain/webhook-endpoints.js';

/** What the tables know of a delivery: how its last attempt ended, and whether its endpoint receives anything. */
export interface DeliveryFacts {
  readonly [column: string]: unknown;
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly type: string;
  readonly state: DeliveryStatus;
  readonly attempts: number;
  readonly created_at: Date;
  readonly due_at: Date;
  readonly in_flight: boolean;
  /** Of the last attempt; null before the first one. */
  readonly attempted_at: Date | null;
  /** Null: there was no response. */
  readonly http_status: number | null;
  readonly failure_phase: string | null;
  readonly error: string | null;
  /** Null: the endpoint is unknown. */
  readonly endpoint_status: 'enabled' | 'disabled' | 'deleted' | null;
  readonly disabled_cause: DisableCause | null;
  readonly disabled_at: Date | null;
}

const FACTS = `d.delivery_id, d.endpoint_id, d.merchant_id, d.type, d.state, d.attempts, d.created_at, d.due_at,
  d.leased_by is not null as in_flight, a.started_at as attempted_at, a.http_status, a.failure_phase, a.error,
  e.status as endpoint_status, e.disabled_cause, e.disabled_at`;
const OF_DELIVERY = `left join webhooks.attempts a on a.delivery_id = d.delivery_id and a.attempt = d.attempts
  left join webhooks.endpoint_snapshots e on e.endpoint_id = d.endpoint_id`;

/** Exhausted deliveries that are older than this many days are no longer stuck. */
export const STUCK_DAYS = 7;

/** Which deliveries are stuck, and on what? */
@Injectable()
export class StuckDeliveries {
  constructor(private readonly database: Database) {}

  async of(deliveryId: string): Promise<DeliveryFacts | null> {
    const [row] = await this.database.query<DeliveryFacts>(
      `select ${FACTS} from webhooks.deliveries d ${OF_DELIVERY} where d.delivery_id = $1`,
      [deliveryId],
    );
    return row ?? null;
  }

  /** Pending for so long, oldest first; then exhausted in the last {@link STUCK_DAYS} days, newest first. `limit` of each. */
  stuck(olderThanSeconds: number, limit: number): Promise<DeliveryFacts[]> {
    const stuck = (where: string, order: string): string =>
      `(select ${FACTS} from (select * from webhooks.deliveries where ${where} order by ${order} limit $2) d
        ${OF_DELIVERY} order by d.${order})`;
    return this.database.query<DeliveryFacts>(
      `${stuck(`state = 'pending' and created_at <= now() - make_interval(secs => $1)`, 'created_at')}
       union all
       ${stuck(`state = 'exhausted' and created_at >= now() - interval '${STUCK_DAYS} days'`, 'created_at desc')}`,
      [olderThanSeconds, limit],
    );
  }
}

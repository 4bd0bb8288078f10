import { Injectable } from '@nestjs/common';
import { MAX_DUE, ReportsBacklog, type DueBacklog } from '../../../platform/operations/system-report.js';
import { Database } from '../../../platform/postgres/database.js';

/** Due deliveries of `webhooks.deliveries`, as operators see them. */
@Injectable()
export class DeliveryBacklog {
  constructor(private readonly database: Database) {}

  /** Of enabled endpoints: what is pending for others waits until they are enabled. */
  @ReportsBacklog('webhooks.deliveries')
  async read(): Promise<DueBacklog> {
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

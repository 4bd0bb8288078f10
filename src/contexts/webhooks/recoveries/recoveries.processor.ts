import { Inject, Injectable } from '@nestjs/common';
import { NIL_UUID } from '../../../kernel/ids.js';
import { Background } from '../../../platform/jobs/background-work.js';
import { DueWork, type WorkOutcome } from '../../../platform/jobs/due-work.js';
import { WorkItems } from '../../../platform/jobs/work-items.js';
import { Database } from '../../../platform/postgres/database.js';
import { DeliveryProcessor } from '../deliveries/deliveries.processor.js';
import { RECOVERY } from '../deliveries/saga-rows.store.js';

/** The pause between two chunks of an endpoint. */
const CHUNK_MS = 1000;
/** The number of deliveries per transaction, and the number of due deliveries at which a recovery pauses. */
export const RECOVERY_CHUNK = 1000;

/** Performs recoveries in chunks. Each chunk stores its cursor, so that another process can continue. */
@Injectable()
export class RecoveriesProcessor {
  @Background()
  readonly work: DueWork;

  constructor(
    items: WorkItems,
    private readonly database: Database,
    @Inject(DeliveryProcessor) private readonly processor: Pick<DeliveryProcessor, 'wake'>,
  ) {
    this.work = new DueWork(items, {
      kind: RECOVERY,
      everyMs: CHUNK_MS,
      batch: 2,
      leaseMs: 60_000,
      retry: { firstMs: CHUNK_MS, maxMs: 60_000 },
      perform: ({ key }) => this.recover(key),
    });
  }

  /** Resends the next chunk of the endpoint's oldest open recovery. */
  private async recover(endpointId: string): Promise<WorkOutcome> {
    const count = await this.database.transaction(async (tx) => {
      const { rows: open } = await tx.query<Open>(OLDEST, [endpointId]);
      const [recovery] = open;
      if (recovery === undefined) return null;
      const { recovery_id, enabled, backed_up } = recovery;
      if (!enabled) await tx.query(END, [recovery_id]);
      if (!enabled || backed_up) return 0;
      const { rows } = await tx.query<{ recovered: number }>(RECOVER, [recovery_id]);
      return rows[0]!.recovered;
    });
    if (count === null) return 'done';
    if (count > 0) this.processor.wake(endpointId);
    return { inMs: CHUNK_MS };
  }
}

const END = 'update webhooks.recoveries set finished_at = clock_timestamp() where recovery_id = $1';

type Open = Readonly<{ recovery_id: string; enabled: boolean; backed_up: boolean }>;

/** Selects the oldest open recovery. It pauses while a whole chunk is due, so that new events do not wait. */
const OLDEST = `
  select recovery_id, exists (select from webhooks.endpoint_snapshots snapshot
      where snapshot.endpoint_id = recovery.endpoint_id and snapshot.status = 'enabled') as enabled,
    (select count(*) from (select from webhooks.deliveries delivery
      where delivery.endpoint_id = recovery.endpoint_id and state = 'pending' and leased_by is null
        and due_at <= now() limit ${RECOVERY_CHUNK}) due) = ${RECOVERY_CHUNK} as backed_up
  from webhooks.recoveries recovery where endpoint_id = $1 and finished_at is null
  order by accepted_at limit 1 for update`;

/**
 * Resends deliveries, each once, that were created and finished before the recovery was accepted. The extra
 * second allows for rounded times. Rows are locked in the order of senders and resends, to avoid deadlocks.
 */
const RECOVER = `
  with recovery as (
    select *, coalesce(after_created_at, since) as from_created_at,
      coalesce(after_delivery_id, '${NIL_UUID}') as from_delivery_id
    from webhooks.recoveries where recovery_id = $1
  ), read_rows as materialized (
    select delivery.delivery_id, delivery.created_at, accepted_at from recovery cross join lateral (
      select delivery_id, created_at from webhooks.deliveries
      where endpoint_id = recovery.endpoint_id and state in ('exhausted', 'dropped')
        and (created_at, delivery_id) > (from_created_at, from_delivery_id)
        and created_at <= accepted_at + interval '1 second'
      order by created_at, delivery_id limit ${RECOVERY_CHUNK}) delivery
  ), locked as materialized (
    select delivery_id from webhooks.deliveries where delivery_id = any(array(select delivery_id from read_rows))
    order by delivery_id for update
  ), due_again as (
    update webhooks.deliveries delivery set state = 'pending', finished_at = null, due_at = clock_timestamp(),
      attempts_before = attempts
    from read_rows join locked using (delivery_id) where delivery.delivery_id = read_rows.delivery_id
      and state in ('exhausted', 'dropped') and finished_at <= accepted_at and not is_test
    returning delivery.delivery_id
  ), summary as (
    select (select count(*)::int from read_rows) as read_rows, (select count(*)::int from due_again) as recovered
  ), moved as (
    update webhooks.recoveries recovery set recovered = recovery.recovered + summary.recovered,
      after_created_at = coalesce(last.created_at, after_created_at),
      after_delivery_id = coalesce(last.delivery_id, after_delivery_id),
      finished_at = case when summary.read_rows < ${RECOVERY_CHUNK} then clock_timestamp() end
    from summary left join lateral (
      select created_at, delivery_id from read_rows order by created_at desc, delivery_id desc limit 1) last on true
    where recovery_id = $1
  )
  select recovered from summary`;

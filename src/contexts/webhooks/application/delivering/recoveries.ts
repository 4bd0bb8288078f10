import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { PoolClient } from 'pg';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { Database } from '../../../../platform/postgres/database.js';
import { Wakeable } from '../../../../platform/background/wakeable.js';
import { Lanes } from './lanes.js';

const TURN_MS = 1000;
/** Deliveries looked at in one transaction; also how many may be due before more are made due. */
export const RECOVERY_CHUNK = 1000;
/** Endpoints that get a chunk in one turn. */
export const ENDPOINTS_PER_TURN = 100;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

interface Recovery {
  readonly endpoint_id: string;
  readonly enabled: boolean;
  /** As many deliveries are due as one chunk makes: what happens now shall not wait behind all of the past. */
  readonly backed_up: boolean;
}

/**
 * Carries out `webhooks.recoveries` in chunks, each in a transaction that keeps the place it came to: after a crash
 * another process goes on from there. Only what had ended when the recovery was accepted is taken, so that what is
 * exhausted anew stays so, and every delivery is looked at once.
 */
@Injectable()
export class Recoveries implements BeforeApplicationShutdown {
  private readonly log = new Logger(Recoveries.name);
  private readonly active: boolean;
  private readonly work: Wakeable;
  /** The last endpoint that had its turn: however many wait for slow receivers, the others have theirs. */
  private after = FIRST_ID;
  private stopping = false;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'roles'>,
    private readonly database: Database,
    @Inject(Lanes) private readonly lanes: Lanes,
  ) {
    this.active = config.roles.includes('worker');
    this.work = new Wakeable(
      () => this.turn(),
      (error) => this.log.warn(`recoveries wait: ${(error as Error).message}`),
    );
  }

  @Interval(TURN_MS)
  tick(): void {
    if (this.active) this.work.wake();
  }

  /** One chunk for each endpoint that is being recovered, of the oldest of its recoveries. */
  async turn(): Promise<void> {
    const open = await this.database.query<{ recovery_id: string; endpoint_id: string }>(
      `select distinct on (endpoint_id) recovery_id, endpoint_id from webhooks.recoveries
       where finished_at is null and endpoint_id > $1 order by endpoint_id, accepted_at limit $2`,
      [this.after, ENDPOINTS_PER_TURN],
    );
    this.after = open.length < ENDPOINTS_PER_TURN ? FIRST_ID : open.at(-1)!.endpoint_id;
    for (const { recovery_id } of open) {
      if (this.stopping) return;
      const endpointId = await this.database.transaction((tx) => this.chunk(recovery_id, tx));
      if (endpointId !== null) this.lanes.wake(endpointId);
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.work.stop();
  }

  /** The endpoint to wake, or null. */
  private async chunk(recoveryId: string, tx: PoolClient): Promise<string | null> {
    const recovery = await lock(recoveryId, tx);
    if (recovery === null) return null;
    if (!recovery.enabled) {
      await tx.query(
        'update webhooks.recoveries set finished_at = clock_timestamp() where recovery_id = $1',
        [recoveryId],
      );
      return null;
    }
    if (recovery.backed_up) return null;
    const { rows } = await tx.query<{ taken: number }>(TAKE, [recoveryId]);
    return rows[0]!.taken > 0 ? recovery.endpoint_id : null;
  }
}

/** Null when it has ended, or another process is at it. */
async function lock(recoveryId: string, tx: PoolClient): Promise<Recovery | null> {
  const { rows } = await tx.query<Recovery>(
    `select endpoint_id, exists (select from webhooks.lanes lane
         where lane.endpoint_id = recovery.endpoint_id and lane.status = 'enabled') as enabled,
       (select count(*) from (select from webhooks.deliveries delivery
         where delivery.endpoint_id = recovery.endpoint_id and state = 'pending' and leased_by is null
           and due_at <= now() limit ${RECOVERY_CHUNK}) due) = ${RECOVERY_CHUNK} as backed_up
     from webhooks.recoveries recovery where recovery_id = $1 and finished_at is null for update skip locked`,
    [recoveryId],
  );
  return rows[0] ?? null;
}

/**
 * Nothing is made after a recovery was accepted and had ended before; the second is for the rounding of times. Rows are
 * locked in the order in which senders and resends lock.
 */
const TAKE = `
  with recovery as (
    select *, coalesce(after_created_at, since) as from_created_at,
      coalesce(after_delivery_id, '${FIRST_ID}') as from_delivery_id
    from webhooks.recoveries where recovery_id = $1
  ), looked_at as materialized (
    select delivery.delivery_id, delivery.created_at, accepted_at from recovery cross join lateral (
      select delivery_id, created_at from webhooks.deliveries
      where endpoint_id = recovery.endpoint_id and state in ('exhausted', 'dropped')
        and (created_at, delivery_id) > (from_created_at, from_delivery_id)
        and created_at <= accepted_at + interval '1 second'
      order by created_at, delivery_id limit ${RECOVERY_CHUNK}) delivery
  ), locked as materialized (
    select delivery_id from webhooks.deliveries where delivery_id = any(array(select delivery_id from looked_at))
    order by delivery_id for update
  ), taken as (
    update webhooks.deliveries delivery set state = 'pending', finished_at = null, due_at = clock_timestamp(),
      attempts_before = attempts
    from looked_at join locked using (delivery_id) where delivery.delivery_id = looked_at.delivery_id
      and state in ('exhausted', 'dropped') and finished_at <= accepted_at and not is_test
    returning delivery.delivery_id
  ), summary as (
    select (select count(*)::int from looked_at) as looked_at, (select count(*)::int from taken) as taken
  ), moved as (
    update webhooks.recoveries recovery set recovered = recovered + summary.taken,
      after_created_at = coalesce(last.created_at, after_created_at),
      after_delivery_id = coalesce(last.delivery_id, after_delivery_id),
      finished_at = case when summary.looked_at < ${RECOVERY_CHUNK} then clock_timestamp() end
    from summary left join lateral (
      select created_at, delivery_id from looked_at order by created_at desc, delivery_id desc limit 1) last on true
    where recovery_id = $1
  )
  select taken from summary`;

import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { Database } from '../../../platform/postgres/database.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../deliveries/retry.js';

/** The limit of counted deliveries, newest first, so that a response takes bounded time. */
export const COUNTED = 25_000;

interface Counted {
  readonly [column: string]: unknown;
  readonly since: Date | null;
  readonly found: number;
  readonly deliveries: Readonly<Record<DeliveryStatus, number>>;
  readonly succeeded: number;
  readonly failed: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly latency: readonly [p50: number | null, p95: number, p99: number];
}

const countSql = (status: DeliveryStatus): string =>
  `'${status}', count(*) filter (where state = '${status}')`;

const NEWEST = `
  with newest as materialized (
    select delivery_id, state, created_at from webhooks.deliveries
    where endpoint_id = $1 and created_at >= $2 order by created_at desc, delivery_id desc limit ${COUNTED + 1}
  ), counted as materialized (
    select * from newest limit ${COUNTED}
  ), alike as materialized (
    select duration_ms, http_status is not null as responded, case
      when outcome = 'succeeded' then null
      when http_status is null then coalesce(failure_phase, 'unknown')
      else 'http_' || http_status / 100 || 'xx' end as class, count(*)::int as attempts
    from counted join webhooks.attempts using (delivery_id) group by 1, 2, 3
  ), ranked as (
    select duration_ms, sum(attempts) over (order by duration_ms) as up_to, sum(attempts) over () as total
    from alike where responded
  )
  select (select min(created_at) from counted) as since,
    (select count(*)::int from newest) as found,
    (select json_build_object(${DELIVERY_STATUSES.map(countSql).join()}) from counted) as deliveries,
    (select coalesce(sum(attempts) filter (where class is null), 0)::int from alike) as succeeded,
    (select coalesce(sum(attempts) filter (where class is not null), 0)::int from alike) as failed,
    (select coalesce(json_object_agg(class, attempts), '{}') from (
      select class, sum(attempts) as attempts from alike where class is not null group by class order by class
    ) by_class) as failures,
    (select array[min(duration_ms) filter (where up_to >= 0.5 * total),
        min(duration_ms) filter (where up_to >= 0.95 * total),
        min(duration_ms) filter (where up_to >= 0.99 * total)] from ranked) as latency`;

const NOW = `
  select (
      (select count(*) from (select from webhooks.deliveries
        where endpoint_id = $1 and state = 'pending' and leased_by is null limit ${COUNTED}) waiting) +
      (select count(*) from webhooks.deliveries where endpoint_id = $1 and leased_by is not null)
    )::int as pending,
    (select min(due_at) from webhooks.deliveries
      where endpoint_id = $1 and state = 'pending' and leased_by is null and due_at <= now()) as oldest_due_at`;

/** The time for which requests share a result, and the largest difference between their `since` values. */
export const STATS_SHARED_MS = 5000;

const MAX_SHARED = 10_000;

async function count(database: Database, endpointId: string, requestedSince: Date) {
  const [[counted], [now]] = await Promise.all([
    database.query<Counted>(NEWEST, [endpointId, requestedSince]),
    database.query<{ pending: number; oldest_due_at: Date | null }>(NOW, [endpointId]),
  ]);
  const { since, found, deliveries, succeeded, failed, failures, latency } = counted!;
  const [p50, p95, p99] = latency;
  const truncated = found > COUNTED;
  return {
    webhook_endpoint_id: endpointId,
    since: (truncated ? since! : requestedSince).toISOString(),
    truncated,
    deliveries,
    attempts: { succeeded, failed },
    failures,
    latency_ms: p50 === null ? null : { p50, p95, p99 },
    pending_now: now!.pending,
    oldest_due_at: now!.oldest_due_at?.toISOString() ?? null,
  };
}

type EndpointStats = Awaited<ReturnType<typeof count>>;

/** The shared statistics of endpoints. Counting lasts up to a second, and merchants may repeat requests. */
@Injectable()
export class RecentStats {
  private readonly shared = new LRUCache<string, EndpointStats, () => Promise<EndpointStats>>({
    ...upTo(MAX_SHARED),
    ttl: STATS_SHARED_MS,
    fetchMethod: (_key, _stale, { context: read }) => read(),
  });

  constructor(private readonly database: Database) {}

  /** Returns the statistics of deliveries created since a time. The caller checks the merchant. */
  of(endpointId: string, since: Date): Promise<EndpointStats> {
    const key = `${endpointId} ${Math.floor(since.getTime() / STATS_SHARED_MS)}`;
    return this.shared.forceFetch(key, { context: () => count(this.database, endpointId, since) });
  }
}

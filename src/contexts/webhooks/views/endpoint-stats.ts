import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { Database } from '../../../platform/postgres/database.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../domain/retry.js';

/** Deliveries that are counted at most, the newest first: a response comes in bounded time. */
export const COUNTED = 25_000;

type EndpointStats = Awaited<ReturnType<typeof endpointStats>>;

interface Counted {
  readonly [column: string]: unknown;
  readonly since: Date | null;
  readonly deliveries: Readonly<Record<string, number>> | null;
  readonly found: number;
  readonly outcomes: readonly { readonly class: string | null; readonly attempts: number }[] | null;
  readonly latency: readonly (number | null)[];
}

/** The caller has verified that the endpoint is the merchant's. */
export async function endpointStats(database: Database, endpointId: string, since: Date) {
  const [[counted], [now]] = await Promise.all([
    database.query<Counted>(NEWEST, [endpointId, since]),
    database.query<{ pending: number; oldest_due_at: Date | null }>(NOW, [endpointId]),
  ]);
  const outcomes = counted!.outcomes ?? [];
  const failures = outcomes.filter((each) => each.class !== null);
  const attempts = sum(outcomes);
  const failed = sum(failures);
  const [p50, p95, p99] = counted!.latency as [number | null, number, number];
  const truncated = counted!.found > COUNTED;
  return {
    webhook_endpoint_id: endpointId,
    since: (truncated ? counted!.since! : since).toISOString(),
    truncated,
    deliveries: Object.fromEntries(
      DELIVERY_STATUSES.map((status) => [status, counted!.deliveries?.[status] ?? 0]),
    ) as Record<DeliveryStatus, number>,
    attempts: { succeeded: attempts - failed, failed },
    failures: Object.fromEntries(failures.map((each) => [each.class, each.attempts])) as Record<
      string,
      number
    >,
    latency_ms: p50 === null ? null : { p50, p95, p99 },
    pending_now: now!.pending,
    oldest_due_at: now!.oldest_due_at?.toISOString() ?? null,
  };
}

function sum(counts: readonly { readonly attempts: number }[]): number {
  return counts.reduce((total, each) => total + each.attempts, 0);
}

/** Along the index of the endpoint's deliveries, and from there by the key of the attempts: neither has another index. */
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
    (select json_object_agg(state, n) from (select state, count(*) as n from counted group by state) by_state)
      as deliveries,
    (select json_agg(by_class) from (select class, sum(attempts) as attempts from alike group by class order by class)
      by_class) as outcomes,
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

/** The age up to which a result is returned again, and by which it may reach further back than requested. */
export const STATS_SHARED_MS = 5000;

const MAX_SHARED = 10_000;

interface Question {
  readonly endpointId: string;
  readonly since: Date;
}

/**
 * Statistics of endpoints, counted once for all who request them for the same endpoint at about the same time: counting
 * takes up to a second of the database, and a merchant may request them as often as the rate limit lets it.
 */
@Injectable()
export class RecentStats {
  private readonly shared: LRUCache<string, EndpointStats, Question>;

  constructor(database: Database) {
    this.shared = new LRUCache<string, EndpointStats, Question>({
      ...upTo(MAX_SHARED),
      ttl: STATS_SHARED_MS,
      fetchMethod: (_key, _stale, { context: { endpointId, since } }) =>
        endpointStats(database, endpointId, since),
    });
  }

  /** The caller has verified that the endpoint is the merchant's. */
  of(endpointId: string, since: Date): Promise<EndpointStats> {
    const key = `${endpointId} ${Math.floor(since.getTime() / STATS_SHARED_MS)}`;
    return this.shared.forceFetch(key, { context: { endpointId, since } });
  }
}

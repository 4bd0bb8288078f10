import { beforeEach, expect, it, describe } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { insertDeliveries } from '../../../../test/support/webhooks/webhook-rows.js';
import { newId } from '../../../kernel/ids.js';
import { COUNTED, RecentStats, STATS_SHARED_MS } from './endpoint-stats.view.js';
import type { Database } from '../../../platform/postgres/database.js';

const SINCE = new Date('2026-01-02T00:00:00.000Z');
const db = onTestDatabase();
let endpoint: string;

beforeEach(() => {
  endpoint = newId();
});

/** Inserts `count` deliveries, one per millisecond from `from`. */
const fill = (state: string, { count = 1, from = SINCE, due = 'now()', leased = false } = {}) =>
  insertDeliveries(db.database, endpoint, count, {
    state: `'${state}'`,
    created_at: `'${from.toISOString()}'::timestamptz + n * interval '1 ms'`,
    due_at: due,
    leased_by: leased ? 'gen_random_uuid()' : 'null',
  });
const counted = () => new RecentStats(db.database).of(endpoint, SINCE);

/** Inserts an attempt of every delivery of the endpoint, of 1, 2, ... ms. */
async function attempts(outcome: string, httpStatus: number | null, phase: string | null): Promise<void> {
  await db.database.query(
    `insert into webhooks.attempts (delivery_id, attempt, endpoint_id, started_at, duration_ms, outcome, http_status,
       failure_phase)
     select delivery_id, attempts + 1, endpoint_id, now(), row_number() over (), $2, $3, $4
     from webhooks.deliveries where endpoint_id = $1`,
    [endpoint, outcome, httpStatus, phase],
  );
  await db.database.query('update webhooks.deliveries set attempts = attempts + 1 where endpoint_id = $1', [
    endpoint,
  ]);
}

it('statistics count the deliveries created since a time, with all of their attempts', async () => {
  await fill('succeeded', { count: 100 });
  await attempts('retry', null, 'timeout');
  await attempts('retry', 503, null);
  await attempts('gone', 410, null);
  await attempts('succeeded', 204, null);
  await fill('dropped', { count: 2 });
  await fill('exhausted', { from: new Date(SINCE.getTime() - 1) });
  expect(await counted()).toEqual({
    webhook_endpoint_id: endpoint,
    since: SINCE.toISOString(),
    truncated: false,
    deliveries: { pending: 0, succeeded: 100, exhausted: 0, dropped: 2 },
    attempts: { succeeded: 100, failed: 300 },
    failures: { timeout: 100, http_5xx: 100, http_4xx: 100 },
    latency_ms: { p50: 50, p95: 95, p99: 99 },
    pending_now: 0,
    oldest_due_at: null,
  });
});

it('statistics contain the present number of pending deliveries and the due time of the oldest', async () => {
  const from = new Date('2025-01-01T00:00:00Z');
  await fill('pending', { count: 2, from, due: `'2026-01-01T00:00:00Z'` });
  await fill('pending', { count: 3, due: `now() + interval '1 hour'` });
  await fill('pending', { count: 4, due: `'2025-01-01T00:00:00Z'`, leased: true });
  expect(await counted()).toMatchObject({
    deliveries: { pending: 7 },
    latency_ms: null,
    pending_now: 9,
    oldest_due_at: '2026-01-01T00:00:00.000Z',
  });
});

it('statistics count only the newest of many deliveries and return the time of the oldest counted one', async () => {
  await fill('succeeded', { count: COUNTED + 10 });
  expect(await counted()).toMatchObject({
    since: new Date(SINCE.getTime() + 10).toISOString(),
    truncated: true,
    deliveries: { succeeded: COUNTED },
  });
});

const later = (ms: number): Date => new Date(SINCE.getTime() + ms);

describe('statistics that are requested repeatedly', () => {
  let statements: number;
  let unavailable: boolean;
  let stats: RecentStats;
  const endpoint = newId();

  beforeEach(() => {
    statements = 0;
    unavailable = false;
    const query = async (): Promise<object[]> => {
      statements += 1;
      await new Promise((resolve) => setImmediate(resolve));
      if (unavailable) throw new Error('unavailable');
      return [{ outcomes: [], latency: [null], found: 0, pending: 0, oldest_due_at: null }];
    };
    stats = new RecentStats({ query } as unknown as Database);
  });

  it('are computed once for requests that arrive together or within a short time', async () => {
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, ms) => stats.of(endpoint, later(ms))),
    );
    await stats.of(endpoint, SINCE);
    expect(statements).toBe(2);
    expect(responses[99]).toMatchObject({ webhook_endpoint_id: endpoint, since: SINCE.toISOString() });
  });

  it('are computed separately for another endpoint and for another start time', async () => {
    await stats.of(endpoint, SINCE);
    await stats.of(newId(), SINCE);
    await stats.of(endpoint, later(STATS_SHARED_MS));
    expect(statements).toBe(6);
  });

  it('are computed again after a failure', async () => {
    unavailable = true;
    await expect(stats.of(endpoint, SINCE)).rejects.toThrow('unavailable');
    unavailable = false;
    expect(await stats.of(endpoint, SINCE)).toMatchObject({ truncated: false });
  });
});

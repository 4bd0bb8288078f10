import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../kernel/ids.js';
import type { Database } from '../../../platform/postgres/database.js';
import { RecentStats, STATS_SHARED_MS } from './endpoint-stats.js';

const SINCE = new Date('2026-01-02T00:00:00.000Z');
const later = (ms: number): Date => new Date(SINCE.getTime() + ms);

describe('statistics that are requested again and again', () => {
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

  it('are counted once for all who ask at once or soon after', async () => {
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, ms) => stats.of(endpoint, later(ms))),
    );
    await stats.of(endpoint, SINCE);
    expect(statements).toBe(2);
    expect(responses[99]).toMatchObject({ webhook_endpoint_id: endpoint, since: SINCE.toISOString() });
  });

  it('are counted apart for another endpoint, and since another time', async () => {
    await stats.of(endpoint, SINCE);
    await stats.of(newId(), SINCE);
    await stats.of(endpoint, later(STATS_SHARED_MS));
    expect(statements).toBe(6);
  });

  it('are counted again when it failed', async () => {
    unavailable = true;
    await expect(stats.of(endpoint, SINCE)).rejects.toThrow('unavailable');
    unavailable = false;
    expect(await stats.of(endpoint, SINCE)).toMatchObject({ truncated: false });
  });
});

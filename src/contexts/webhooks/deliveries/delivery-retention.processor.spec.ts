import { beforeEach, describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { insertDeliveries, insertEndpoint } from '../../../../test/support/webhooks/webhook-rows.js';
import type { Database } from '../../../platform/postgres/database.js';
import type { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { webhooksConfig } from '../webhooks.config.js';
import { DeliveryRetentionProcessor, PRUNED_AT_ONCE } from './delivery-retention.processor.js';

const NOW = new Date('2026-06-01T00:00:00Z');
const OLD = '2026-02-01T00:00:00Z';
const RECENT = '2026-05-31T00:00:00Z';
const db = onTestDatabase();
let endpoint: string;

beforeEach(async () => {
  await db.database.query(
    'truncate webhooks.endpoint_snapshots, webhooks.deliveries, webhooks.attempts, webhooks.recoveries',
  );
  endpoint = await insertEndpoint(db.database);
});

/** Inserts deliveries with two attempts each; `finished` is null while pending. */
async function fill(
  finished: string | null,
  { count = 1, to = endpoint, created = OLD } = {},
): Promise<void> {
  await insertDeliveries(db.database, to, count, {
    state: finished === null ? `'pending'` : `'exhausted'`,
    created_at: `'${created}'`,
    finished_at: finished === null ? 'null' : `'${finished}'`,
  });
  await db.database.query(
    `insert into webhooks.attempts (delivery_id, attempt, endpoint_id, started_at, duration_ms, outcome)
     select delivery_id, n, endpoint_id, created_at, 1, 'retry' from webhooks.deliveries cross join generate_series(1, 2) n
     on conflict do nothing`,
  );
}

const retention = (database: Database = db.database, more: object = {}) =>
  new DeliveryRetentionProcessor(
    { ...webhooksConfig({}), ...more },
    { now: () => NOW },
    database,
    {} as SubscriptionProgress,
  );
const recover = (finished: string | null): Promise<unknown> =>
  db.database.query(
    `insert into webhooks.recoveries (recovery_id, endpoint_id, merchant_id, since, finished_at)
     values ($1, $1, $1, $2, $3)`,
    [endpoint, OLD, finished],
  );

async function left(): Promise<{ deliveries: number; attempts: number; recoveries: number }> {
  const [row] = await db.database.query<{ deliveries: number; attempts: number; recoveries: number }>(
    `select (select count(*)::int from webhooks.deliveries) as deliveries,
       (select count(*)::int from webhooks.attempts) as attempts,
       (select count(*)::int from webhooks.recoveries) as recoveries`,
  );
  return row!;
}

describe('the retention of deliveries', () => {
  it('deletes old finished deliveries with their attempts, but no recent or pending delivery', async () => {
    await fill(OLD, { count: PRUNED_AT_ONCE + 10 });
    for (let n = 0; n < 5; n += 1) await fill(OLD, { to: await insertEndpoint(db.database), count: 3 });
    await fill(RECENT, { count: 2 });
    await fill(null, { count: 3 });
    await recover(OLD);
    await retention().prune();
    expect(await left()).toEqual({ deliveries: 5, attempts: 10, recoveries: 0 });
  });

  it('keeps all deliveries of an endpoint with an open recovery', async () => {
    await fill(OLD, { count: 3 });
    await recover(null);
    await retention().prune();
    expect(await left()).toEqual({ deliveries: 3, attempts: 6, recoveries: 1 });
  });

  it('keeps failed deliveries for as long as they count towards automatic disabling', async () => {
    await fill(OLD);
    const webhookDisableWindowSeconds = 365 * 86_400;
    await retention(db.database, { webhookRetentionDays: 1, webhookDisableWindowSeconds }).prune();
    expect(await left()).toMatchObject({ deliveries: 1, attempts: 2 });
  });

  it('reads old deliveries once per round, even deliveries that finished recently and are kept', async () => {
    await fill(RECENT, { count: 4 * PRUNED_AT_ONCE });
    await fill(OLD, { count: 4 * PRUNED_AT_ONCE, created: '2026-02-02T00:00:00Z' });
    let statements = 0;
    const query = (...params: Parameters<Database['query']>) => {
      if (!params[0].startsWith('select clock_timestamp()')) statements += 1;
      return db.database.query(...params);
    };
    await retention({ query, pool: db.pool } as unknown as Database).prune();
    expect(await left()).toMatchObject({ deliveries: 4 * PRUNED_AT_ONCE });
    // Eight full chunks, the empty one, and the other statements.
    expect(statements).toBeLessThan(13);
  });

  it('can run in two processes at the same time', async () => {
    await fill(OLD, { count: 3 * PRUNED_AT_ONCE });
    await Promise.all([retention().prune(), retention().prune()]);
    await retention().prune();
    expect(await left()).toEqual({ deliveries: 0, attempts: 0, recoveries: 0 });
  });
});

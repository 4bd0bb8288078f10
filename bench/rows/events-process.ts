import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { compare, type Comparison } from '../harness/compare.js';
import { alternate, timed, type Variant } from '../harness/measure.js';
import { row, expectEqual, type RowContext } from '../harness/row.js';
import { acceptAll, eventBatch, seedEvents } from '../seed/tracked-events.js';
import { runOnce, startBare } from '../support/bare.js';
import { count } from '../support/count.js';
import { ServiceProcess } from '../support/service.js';
import { eventually } from '../support/wait.js';

const ITEMS = 1000;
const POLL_MS = 10;
const MERCHANT = randomUUID();

/** A program that processes batches into events, on its own database. */
interface Target {
  readonly name: string;
  readonly pool: pg.Pool;
  readonly batches: string;
  readonly events: string;
  /** Restores the events before any batch. */
  reset(): Promise<void>;
  work(): Promise<void>;
}

const COMPARISONS: readonly Comparison[] = [
  {
    label: 'empty tables, compared with one INSERT ... SELECT unnest ... ON CONFLICT DO NOTHING per batch',
    subject: 'service',
    reference: 'bare',
    goal: { atLeast: 0.8 },
  },
  {
    label: 'after earlier events in the months of the retention, compared with INSERT into an empty table',
    subject: 'service, history',
    reference: 'bare',
    goal: { atLeast: 0.4 },
  },
  {
    label: 'after as many, compared with INSERT into a table that holds them',
    subject: 'service, history',
    reference: 'bare, history',
    goal: { atLeast: 0.8 },
  },
];

/** Processing of accepted batches into counted events, compared with a minimal program. */
export const eventsProcessRow = row(
  'events-process',
  `event batches of ${ITEMS}, accepted and on disk, until they are processed`,
  async (context) => {
    const { environment, options } = context;
    const targets = [
      await serviceTarget(context, 'service', 0),
      await bareTarget(context, 'bare', 0),
      await serviceTarget(context, 'service, history', options.history),
      await bareTarget(context, 'bare, history', options.history),
    ];
    for (const { name, pool, events } of targets.slice(2)) {
      context.progress(`${name}: ${options.history} earlier events`);
      await seedEvents(pool, events, MERCHANT, options.history);
    }
    const variants = targets.map((target) => variantOf(context, target));
    const samples = await alternate(variants, options.rounds, context.progress);
    await environment.children.stopAll();
    return {
      comparisons: COMPARISONS.map((comparison) => compare(samples, comparison)),
      notes: [
        `${options.batches} batches of one merchant per variant and round, ${options.history} earlier events, forwarding off`,
      ],
    };
  },
);

function variantOf({ environment, options }: RowContext, target: Target): Variant {
  const { name, pool, events } = target;
  return {
    name,
    run: async () => {
      const bodies = Array.from({ length: options.batches }, () => Buffer.from(eventBatch(ITEMS)));
      await target.reset();
      const before = await count(pool, events);
      await environment.checkpoint();
      const client = await pool.connect();
      let seconds: number;
      try {
        await acceptAll(client, target.batches, MERCHANT, bodies, ITEMS);
        seconds = await timed(() => target.work());
      } finally {
        client.release();
      }
      expectEqual('events', (await count(pool, events)) - before, options.batches * ITEMS);
      return { units: options.batches, seconds };
    },
  };
}

async function truncate(pool: pg.Pool, ...tables: readonly string[]): Promise<void> {
  await pool.query(`truncate ${tables.join()}`);
}

/** A worker as deployed in production, without an analytics provider. */
async function serviceTarget({ environment }: RowContext, name: string, earlier: number): Promise<Target> {
  const database = name.replaceAll(/[^a-z]+/g, '_');
  const env = {
    MODE: 'production',
    REQUIRE_HTTPS: 'false',
    ROLES: 'api,worker',
    MASTER_KEY: randomBytes(32).toString('hex'),
    PUBLIC_URL: 'https://api.example.com',
  };
  await new ServiceProcess(environment, { name: database, env }).start();
  const pool = await environment.pool(database);
  const waiting = `select from tracking.batches where state = 'accepted' limit 1`;
  return {
    name,
    pool,
    batches: 'tracking.batches',
    events: 'tracking.events',
    // Deleting 5,000,000 would cost more than the added ones.
    reset: () => truncate(pool, 'tracking.batches', ...(earlier > 0 ? [] : ['tracking.events'])),
    work: () =>
      eventually('batches', async () => (await pool.query(waiting)).rowCount === 0, 600_000, POLL_MS),
  };
}

async function bareTarget({ environment }: RowContext, name: string, earlier: number): Promise<Target> {
  const database = name.replaceAll(/[^a-z]+/g, '_');
  const bare = await startBare(environment, 'events-insert', { database });
  const pool = await environment.pool(database);
  return {
    name,
    pool,
    batches: 'bare_batches',
    events: 'bare_events',
    reset: () => truncate(pool, 'bare_batches', ...(earlier > 0 ? [] : ['bare_events'])),
    work: () => runOnce(bare.baseUrl),
  };
}

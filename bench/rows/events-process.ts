import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { MONTHS } from '../../src/contexts/tracking/store/periods.js';
import { compare, type Comparison } from '../harness/compare.js';
import { alternate, timed, type Variant } from '../harness/measure.js';
import type { Row, RowContext, RowOutcome } from '../harness/row.js';
import { acceptAll, earlierEvents, processableBatch, seedEvents } from '../seed/tracked-events.js';
import { startBare } from '../support/bare.js';
import { ready } from '../support/children.js';
import { spawnService } from '../support/service.js';
import { eventually } from '../support/wait.js';

const ITEMS = 1000;
const MONTHS_KEPT = 25;
const LOOK_MS = 10;
const MERCHANT = randomUUID();

/** Something that makes events of batches, on a database of its own. */
interface Target {
  readonly name: string;
  readonly pool: pg.Pool;
  readonly batches: string;
  readonly events: string;
  /** Back to the events that were there before any batch. */
  reset(): Promise<void>;
  /** Resolves when the batches that are in the table are events. */
  work(): Promise<void>;
}

const COMPARISONS: readonly Comparison[] = [
  {
    label: 'beside one INSERT ... SELECT unnest ... ON CONFLICT DO NOTHING per batch, empty tables',
    subject: 'service',
    reference: 'bare',
    goal: { atLeast: 0.8 },
  },
  {
    label: 'after earlier events in the months of the retention, beside the empty table',
    subject: 'service, history',
    reference: 'service',
    goal: { atLeast: 0.9 },
  },
  {
    label: 'after as many earlier events in the present month alone, beside INSERT ... into such a table',
    subject: 'service, one month',
    reference: 'bare, one month',
    goal: { atLeast: 0.8 },
  },
];

/** Accepted batches until they are events that count, beside the least that could do it and beside an empty table. */
export const eventsProcessRow: Row = {
  name: 'events-process',
  title: `event batches of ${ITEMS}, accepted and on disk, until they are processed`,
  run: runProcess,
};

async function runProcess(context: RowContext): Promise<RowOutcome> {
  const { environment, options } = context;
  const targets = [
    await serviceTarget(context, 'service', 0, 1),
    await bareTarget(context, 'bare', 0),
    await serviceTarget(context, 'service, history', options.history, MONTHS_KEPT),
    await serviceTarget(context, 'service, one month', options.history, 1),
    await bareTarget(context, 'bare, one month', options.history),
  ];
  const variants = targets.map((target) => variantOf(context, target));
  const samples = await alternate(variants, options.rounds, context.progress);
  await environment.children.stopAll();
  return {
    comparisons: COMPARISONS.map((comparison) => compare(samples, comparison)),
    notes: [
      `${options.batches} batches of one merchant per variant and round, ${options.history} earlier events, forwarding off`,
    ],
  };
}

function variantOf({ environment, options, checks }: RowContext, target: Target): Variant {
  return {
    name: target.name,
    run: async (round) => {
      const bodies = Array.from({ length: options.batches }, () => processableBatch(ITEMS));
      await target.reset();
      const before = await countEvents(target);
      await environment.checkpoint();
      const client = await target.pool.connect();
      let seconds: number;
      try {
        await acceptAll(client, target.batches, MERCHANT, bodies, ITEMS);
        seconds = await timed(() => target.work());
      } finally {
        client.release();
      }
      const when = `${target.name}, ${round < 0 ? 'warm-up' : `round ${round + 1}`}`;
      checks.equal(`${when}: events`, (await countEvents(target)) - before, options.batches * ITEMS);
      return { units: options.batches, seconds };
    },
  };
}

/** Of the present month alone: what came before is not touched. */
async function countEvents({ pool, events }: Target): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(`select count(*) from ${events}`);
  return Number(rows[0]!.count);
}

/** A worker as it is deployed in production, without a key of the analytics provider. */
async function serviceTarget(
  context: RowContext,
  name: string,
  earlier: number,
  months: number,
): Promise<Target> {
  const { environment } = context;
  const database = name.replaceAll(/[^a-z]+/g, '_');
  // The database goes by it: the second start must bring the same.
  const masterKey = randomBytes(32).toString('hex');
  const start = () =>
    spawnService(environment, {
      name: database,
      env: {
        MODE: 'production',
        REQUIRE_HTTPS: 'false',
        ROLES: 'api,worker',
        MASTER_KEY: masterKey,
        PUBLIC_URL: 'https://api.example.com',
      },
    });
  const { child, port } = await start();
  await ready(child, `http://127.0.0.1:${port}/health/ready`);
  const pool = await environment.pool(database);
  const events = `tracking.events_${MONTHS.at(new Date(), 0).name}`;
  if (earlier > 0) {
    await child.stop();
    await seedEvents(pool, MERCHANT, earlier, months, (text) => context.progress(`${name}: ${text}`));
    await pool.query('create table public.earlier as select * from ' + events);
    await pool.query('vacuum analyze');
    const again = await start();
    await ready(again.child, `http://127.0.0.1:${again.port}/health/ready`);
    await eventually('filters of earlier months', async () => (await unfiltered(pool)) === 0, 600_000);
  }
  const waiting = `select from tracking.batches where state = 'accepted' limit 1`;
  return {
    name,
    pool,
    batches: 'tracking.batches',
    events,
    reset: async () => {
      await pool.query(`truncate tracking.batches`);
      // Deleting 5,000,000 would cost more than what is added to them.
      if (months === 1 && earlier > 0) return;
      await pool.query(`truncate ${events}`);
      if (earlier > 0) await pool.query(`insert into ${events} select * from public.earlier`);
    },
    work: () =>
      eventually('batches', async () => (await pool.query(waiting)).rowCount === 0, 600_000, LOOK_MS),
  };
}

async function unfiltered(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(
    `select count(*) from pg_inherits join pg_class on oid = inhrelid
       left join tracking.sealed_months on partition = relname
     where inhparent = 'tracking.events'::regclass and events is null
       and relname < 'events_' || to_char(now() at time zone 'UTC', 'YYYYMM')`,
  );
  return Number(rows[0]!.count);
}

async function bareTarget(context: RowContext, name: string, earlier: number): Promise<Target> {
  const { environment } = context;
  const database = name.replaceAll(/[^a-z]+/g, '_');
  const who = { apiKey: MERCHANT, privateKey: '' };
  const bare = await startBare(environment, 'events-insert', database, who);
  const pool = await environment.pool(database);
  if (earlier > 0) {
    context.progress(`${name}: ${earlier} earlier events`);
    await pool.query(earlierEvents('bare_events'), [MERCHANT, MONTHS.at(new Date(), 0).from, earlier]);
    await pool.query('vacuum analyze');
  }
  return {
    name,
    pool,
    batches: 'bare_batches',
    events: 'bare_events',
    reset: async () => {
      await pool.query(earlier > 0 ? 'truncate bare_batches' : 'truncate bare_batches, bare_events');
    },
    work: async () => {
      const response = await fetch(`${bare.baseUrl}/run`, { method: 'POST' });
      if (!response.ok) throw new Error(await response.text());
    },
  };
}

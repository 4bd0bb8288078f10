import type pg from 'pg';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../sandbox/processes.js';
import { timed } from '../harness/measure.js';
import type { Options } from '../harness/options.js';
import {
  insertBareEndpoints,
  insertDeliveries,
  insertLanes,
  type SeededEndpoint,
} from '../seed/deliveries.js';
import { POOL_SIZE } from '../support/bare.js';
import { SigningSecrets } from '../../src/contexts/webhooks/application/signing-secrets.js';
import { MIGRATIONS } from '../../src/composition.js';
import { migrate } from '../../src/platform/postgres/migrate.js';
import { ringOf } from '../../test/support/key-ring.js';
import { ready } from '../support/children.js';
import type { BenchEnvironment } from '../support/environment.js';
import type { Receiver } from '../support/receiver.js';
import { spawnService } from '../support/service.js';
import { eventually } from '../support/wait.js';

const DATABASE = 'deliveries';
/** POSTs under way at a time: the service's cap per endpoint, and that of every reference. */
export const UNDER_WAY = 16;
/** How often the service sweeps. */
const SWEEP_MS = 1000;
/** How often the table is looked at once everything has arrived. */
const LOOK_MS = 5;

export interface DeliveryTarget {
  readonly name: string;
  readonly endpoints: readonly SeededEndpoint[];
  deliveries(options: Options): number;
  /**
   * Makes that many deliveries and has them sent. Seconds from the moment at which somebody looks for what is due to the
   * moment at which the last attempt is in the table.
   */
  send(count: number, receiver: Receiver): Promise<number>;
  /** Deliveries that succeeded at the first attempt, and attempts. */
  recorded(): Promise<{ deliveries: number; attempts: number }>;
}

/** Those of the service: its database is migrated, and its key ring is there. */
export async function signingSecrets(
  environment: BenchEnvironment,
  masterKey: Buffer,
): Promise<SigningSecrets> {
  const url = await environment.database(DATABASE);
  await migrate(url, MIGRATIONS);
  return new SigningSecrets(await ringOf(url, masterKey));
}

/** The service as a worker (`ROLES=worker`), with all deliveries for one endpoint, and spread over all of them. */
export async function serviceDeliveries(
  environment: BenchEnvironment,
  endpoints: readonly SeededEndpoint[],
  masterKey: Buffer,
  secrets: SigningSecrets,
): Promise<DeliveryTarget[]> {
  const { child, metricsPort } = await spawnService(environment, {
    name: DATABASE,
    env: { ROLES: 'worker', MASTER_KEY: masterKey.toString('hex') },
  });
  await ready(child, `http://127.0.0.1:${metricsPort}/metrics`);
  const pool = await environment.pool(DATABASE);
  await insertLanes(pool, endpoints);
  const target = (name: string, targets: readonly SeededEndpoint[]): DeliveryTarget => ({
    name,
    endpoints: targets,
    deliveries: (options) => options.deliveries,
    send: async (count, receiver) => {
      const visible = await fill(environment, pool, 'webhooks', (client) =>
        insertDeliveries(client, 'webhooks.deliveries', targets, count, SERVICE_FIELDS, secrets),
      );
      await receiver.first();
      const began = await sweepAfter(pool, visible);
      await receiver.all();
      await inTable(pool, 'webhooks', count);
      return (Date.now() - began) / 1000;
    },
    recorded: () => countRows(pool, 'webhooks'),
  });
  return [target('one', endpoints.slice(0, 1)), target('many', endpoints)];
}

/**
 * When the first sweep after a moment began, in Unix milliseconds; asked when something has arrived. Each begins with a
 * sign of life. One that began before the moment and looked after it counts, too.
 */
async function sweepAfter(pool: pg.Pool, moment: number): Promise<number> {
  const { rows } = await pool.query<{ last: Date }>('select max(seen_at) as last from webhooks.senders');
  return moment + ((rows[0]!.last.getTime() - moment) % SWEEP_MS);
}

/** What the service's rows have beside what all rows have. */
const SERVICE_FIELDS = {
  is_test: false,
  state: 'pending',
  attempts: 0,
  attempts_before: 0,
  created_at: new Date().toISOString(),
};

/** The bare loop, and one job per delivery on each backend of BullMQ. */
export async function bareDeliveries(
  environment: BenchEnvironment,
  endpoints: readonly SeededEndpoint[],
  redisUrl: string | null,
): Promise<DeliveryTarget[]> {
  const targets = [await bareTarget(environment, 'loop', 'deliveries-loop', endpoints, null)];
  const onPostgres = await environment.database('jobs_postgres');
  targets.push(await bareTarget(environment, 'jobs-postgres', 'deliveries-jobs', endpoints, onPostgres));
  if (redisUrl !== null)
    targets.push(await bareTarget(environment, 'jobs-redis', 'deliveries-jobs', endpoints, redisUrl));
  return targets;
}

async function bareTarget(
  environment: BenchEnvironment,
  name: string,
  program: string,
  all: readonly SeededEndpoint[],
  queueUrl: string | null,
): Promise<DeliveryTarget> {
  const database = name.replace('-', '_');
  const port = await freePort();
  const endpoints = all.slice(0, 1);
  const child = environment.children.start({
    name: program,
    args: ['--import', 'tsx', fileURLToPath(new URL(`../bare/${program}.ts`, import.meta.url))],
    dir: environment.folder(name),
    env: {
      DATABASE_URL: await environment.database(database),
      POOL_SIZE: String(POOL_SIZE),
      PORT: String(port),
      UNDER_WAY: String(UNDER_WAY),
      ...(queueUrl === null ? {} : { QUEUE_URL: queueUrl }),
    },
  });
  await ready(child, `http://127.0.0.1:${port}/health/ready`);
  const pool = await environment.pool(database);
  await insertBareEndpoints(pool, endpoints);
  const post = async (path: string): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST' });
    if (!response.ok) throw new Error(`${name}${path}: ${await response.text()}`);
  };
  return {
    name,
    endpoints,
    deliveries: (options) => (name === 'jobs-postgres' ? options.jobs : options.deliveries),
    send: async (count, receiver) => {
      await fill(environment, pool, 'public', (client) =>
        insertDeliveries(client, 'public.deliveries', endpoints, count, BARE_FIELDS),
      );
      if (queueUrl !== null) await post('/fill');
      let end: Promise<void> | undefined;
      const seconds = await timed(async () => {
        end = post('/run');
        await Promise.race([end, receiver.all()]);
        await inTable(pool, 'public', count);
      });
      await end;
      return seconds;
    },
    recorded: () => countRows(pool, 'public', queueUrl !== null),
  };
}

const BARE_FIELDS = { state: 'pending', attempts: 0, claimed: false };

/**
 * Deliveries that become visible all at once, in tables with nothing else in them. Before that the planner knows them, as
 * it does in a table that lives, and what is dirty is written out. Resolves to the moment, in Unix milliseconds.
 */
async function fill(
  environment: BenchEnvironment,
  pool: pg.Pool,
  schema: string,
  insert: (client: pg.PoolClient) => Promise<void>,
): Promise<number> {
  await pool.query(`truncate ${schema}.deliveries, ${schema}.attempts`);
  const client = await pool.connect();
  try {
    await client.query('begin');
    await insert(client);
    await client.query(`analyze ${schema}.deliveries`);
    await environment.checkpoint();
    await client.query('commit');
    return Date.now();
  } finally {
    client.release();
  }
}

async function inTable(pool: pg.Pool, schema: string, count: number): Promise<void> {
  const there = async (): Promise<boolean> => (await attemptsIn(pool, schema)) >= count;
  await eventually(`${count} attempts in ${schema}`, there, 60_000, LOOK_MS);
}

async function attemptsIn(pool: pg.Pool, schema: string): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from ${schema}.attempts`);
  return rows[0]!.n;
}

/** Where each delivery is a job, the queue keeps its state and not the table. */
async function countRows(
  pool: pg.Pool,
  schema: string,
  jobs = false,
): Promise<{ deliveries: number; attempts: number }> {
  const { rows } = await pool.query<{ n: number }>(
    `select count(*)::int as n from ${schema}.deliveries join ${schema}.attempts using (delivery_id)
     where outcome = 'succeeded' and http_status = 204 ${jobs ? '' : `and state = 'succeeded' and attempts = 1`}`,
  );
  return { deliveries: rows[0]!.n, attempts: await attemptsIn(pool, schema) };
}

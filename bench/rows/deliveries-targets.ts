import type pg from 'pg';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../sandbox/processes.js';
import { MIGRATIONS } from '../../src/composition.js';
import { SigningSecrets } from '../../src/contexts/webhooks/application/signing-secrets.js';
import { migrate } from '../../src/platform/postgres/migrate.js';
import { ringOf } from '../../test/support/key-ring.js';
import { timed } from '../harness/measure.js';
import {
  insertBareEndpoints,
  insertDeliveries,
  insertLanes,
  type SeededEndpoint,
} from '../seed/deliveries.js';
import { POOL_SIZE } from '../support/bare.js';
import { ready } from '../support/children.js';
import type { BenchEnvironment } from '../support/environment.js';
import type { Receiver } from '../support/receiver.js';
import { spawnService } from '../support/service.js';
import { eventually } from '../support/wait.js';

const DATABASE = 'deliveries';
/** POSTs in flight at a time: the service's cap per endpoint, and that of the reference. */
export const IN_FLIGHT = 16;
/** How often the service sweeps. */
const SWEEP_MS = 1000;
/** How often the table is read once everything has arrived. */
const POLL_MS = 5;

export interface DeliveryTarget {
  readonly name: string;
  readonly endpoints: readonly SeededEndpoint[];
  /** Creates that many deliveries and has them sent. Seconds from the claim until the last attempt is in the table. */
  send(count: number, receiver: Receiver): Promise<number>;
  /** Deliveries that succeeded at the first attempt, and attempts. */
  recorded(): Promise<{ deliveries: number; attempts: number }>;
}

/** Those of the service: its database is migrated, and its key ring exists. */
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
  const { child, readyUrl } = await spawnService(environment, {
    name: DATABASE,
    env: { ROLES: 'worker', MASTER_KEY: masterKey.toString('hex') },
  });
  await ready(child, readyUrl);
  const pool = await environment.pool(DATABASE);
  await insertLanes(pool, endpoints);
  const target = (name: string, targets: readonly SeededEndpoint[]): DeliveryTarget => ({
    name,
    endpoints: targets,
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

/** When the first sweep after a time began, in Unix milliseconds. Each sweep begins with a heartbeat. */
async function sweepAfter(pool: pg.Pool, time: number): Promise<number> {
  const { rows } = await pool.query<{ last: Date }>('select max(seen_at) as last from webhooks.senders');
  return time + ((rows[0]!.last.getTime() - time) % SWEEP_MS);
}

/** Columns of the service alone. */
const SERVICE_FIELDS = {
  is_test: false,
  state: 'pending',
  attempts: 0,
  attempts_before: 0,
  created_at: new Date().toISOString(),
};

/** The reference: a bare loop over one table, to one endpoint. */
export async function bareDeliveries(
  environment: BenchEnvironment,
  all: readonly SeededEndpoint[],
): Promise<DeliveryTarget> {
  const [name, program] = ['loop', 'deliveries-loop'];
  const port = await freePort();
  const endpoints = all.slice(0, 1);
  const child = environment.children.start({
    name: program,
    args: ['--import', 'tsx', fileURLToPath(new URL(`../bare/${program}.ts`, import.meta.url))],
    dir: environment.folder(name),
    env: {
      DATABASE_URL: await environment.database(name),
      POOL_SIZE: String(POOL_SIZE),
      PORT: String(port),
      IN_FLIGHT: String(IN_FLIGHT),
    },
  });
  await ready(child, `http://127.0.0.1:${port}/health/ready`);
  const pool = await environment.pool(name);
  await insertBareEndpoints(pool, endpoints);
  const run = async (): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${port}/run`, { method: 'POST' });
    if (!response.ok) throw new Error(await response.text());
  };
  return {
    name,
    endpoints,
    send: async (count, receiver) => {
      await fill(environment, pool, 'public', (client) =>
        insertDeliveries(client, 'public.deliveries', endpoints, count, BARE_FIELDS),
      );
      let end: Promise<void> | undefined;
      const seconds = await timed(async () => {
        end = run();
        await Promise.race([end, receiver.all()]);
        await inTable(pool, 'public', count);
      });
      await end;
      return seconds;
    },
    recorded: () => countRows(pool, 'public'),
  };
}

const BARE_FIELDS = { state: 'pending', attempts: 0, claimed: false };

/**
 * Deliveries that become visible all at once, in tables with nothing else in them. Before that the tables are analyzed
 * and what is dirty is written out. Resolves to the time, in Unix milliseconds.
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
  const isComplete = async (): Promise<boolean> => (await attemptsIn(pool, schema)) >= count;
  await eventually(`${count} attempts in ${schema}`, isComplete, 60_000, POLL_MS);
}

async function attemptsIn(pool: pg.Pool, schema: string): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from ${schema}.attempts`);
  return rows[0]!.n;
}

async function countRows(pool: pg.Pool, schema: string): Promise<{ deliveries: number; attempts: number }> {
  const { rows } = await pool.query<{ n: number }>(
    `select count(*)::int as n from ${schema}.deliveries join ${schema}.attempts using (delivery_id)
     where outcome = 'succeeded' and http_status = 204 and state = 'succeeded' and attempts = 1`,
  );
  return { deliveries: rows[0]!.n, attempts: await attemptsIn(pool, schema) };
}

import type pg from 'pg';
import { createPayees } from '../support/payees.js';
import type { RowContext } from '../harness/row.js';
import type { BenchEnvironment } from '../support/environment.js';
import { withEventMacs } from '../support/event-macs.js';
import { runProgram } from '../support/program.js';
import { operatorEnv, startService } from '../support/service.js';
import type { Credentials } from '../support/sign.js';
import { SEED_EVENTS } from './ledger-sql.js';

/** Name of the database and of the service's folder. */
export const LEDGER = 'ledger';
/** Users that share what the first two users do not have. */
const OTHER_USERS = 30;

/** A store of many payouts and its read models; no service runs on it unless a row starts one. */
export interface Ledger {
  readonly merchant: Credentials;
  /** The user with very many payouts. */
  readonly richUser: string;
  /** The user with 10. */
  readonly poorUser: string;
  /** The last position before the seed, as far as the service's sagas have come. */
  readonly seededAfter: string;
  /** All that is stored. */
  readonly events: number;
  /** What operators' programs need to work on it. */
  readonly env: Readonly<Record<string, string>>;
}

/** How many payouts, and how many of the first user. */
interface LedgerContext extends Pick<RowContext, 'environment' | 'progress'> {
  readonly options: Pick<RowContext['options'], 'payouts' | 'user-payouts'>;
}

const created = new WeakMap<BenchEnvironment, Promise<Ledger>>();

/** The ledger of a run, created for the first row that needs it. */
export function ledger(context: LedgerContext): Promise<Ledger> {
  const known = created.get(context.environment) ?? create(context);
  created.set(context.environment, known);
  return known;
}

/** The program's own rebuild of the read models of payouts. */
export async function rebuildPayouts(
  environment: BenchEnvironment,
  { env }: Pick<Ledger, 'env'>,
): Promise<{ readonly events: number; readonly seconds: number }> {
  const args = ['rebuild', '--json', '--no-compare', 'payouts.views', '--reason', 'the seed of the bench'];
  const { printed } = await runProgram(environment, args, env);
  return JSON.parse(printed) as { events: number; seconds: number };
}

async function create({ environment, options, progress }: LedgerContext): Promise<Ledger> {
  progress('ledger: users');
  const service = await startService(environment, { name: LEDGER });
  const users = await createPayees(service, 2 + OTHER_USERS);
  await service.child.stop();
  const env = await operatorEnv(environment, LEDGER);
  const pool = await environment.pool(LEDGER);
  progress(`ledger: ${options.payouts} payouts as events`);
  const seededAfter = await withEventMacs(env.DATABASE_URL, Buffer.from(env.MASTER_KEY, 'hex'), () =>
    seedEvents(pool, [
      options.payouts,
      service.merchant.apiKey,
      users.map(({ id }) => id),
      users.map(({ wallet }) => wallet),
      // The seed divides by their share.
      Math.min(options['user-payouts'], Math.floor(options.payouts / 4)),
    ]),
  );
  progress('ledger: read models');
  await rebuildPayouts(environment, { env });
  // The other subscriptions count as done with the seed: a service that is behind is not ready.
  await pool.query(
    'update event_store.checkpoints set position = (select max(position)::text from event_store.events)',
  );
  const { rows } = await pool.query<{ n: number }>('select count(*)::int as n from event_store.events');
  const [richUser, poorUser] = users.map(({ id }) => id) as [string, string];
  return { merchant: service.merchant, richUser, poorUser, seededAfter, events: rows[0]!.n, env };
}

/** Resolves to the last position before. Constraints are added afterwards; the sequence of positions continues after the seed. */
async function seedEvents(pool: pg.Pool, params: readonly unknown[]): Promise<string> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query(`set local maintenance_work_mem = '512MB'`);
    const { rows: constraints } = await client.query<{ name: string; definition: string }>(
      `select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
       where conrelid = 'event_store.events'::regclass and contype in ('p', 'u')`,
    );
    for (const { name } of constraints)
      await client.query(`alter table event_store.events drop constraint ${name}`);
    const { rows } = await client.query<{ last: string }>(
      'select max(position)::text as last from event_store.events',
    );
    const { last } = rows[0]!;
    await client.query(SEED_EVENTS, [...params, last]);
    for (const { name, definition } of constraints)
      await client.query(`alter table event_store.events add constraint ${name} ${definition}`);
    await client.query(
      `select setval('event_store.position', (select max(position) from event_store.events))`,
    );
    await client.query('commit');
    await client.query('vacuum analyze event_store.events');
    return last;
  } finally {
    client.release();
  }
}

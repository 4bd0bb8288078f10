import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { RowContext } from '../harness/row.js';
import type { BenchEnvironment } from '../support/environment.js';
import { startService, type Service } from '../support/service.js';
import { call, type Credentials } from '../support/sign.js';
import { activeUsers } from '../support/users.js';
import { eventually } from '../support/wait.js';
import { EVENT_FORMS, FORM_MISMATCHES, SEED_EVENTS } from './ledger-sql.js';
import { withEventMacs } from '../support/event-macs.js';
import { masterKeyOf, Views } from './views.js';

/** Name of the database and of the service's folder. */
export const LEDGER = 'ledger';
/** Users that share what the first two users do not have. */
const OTHER_USERS = 30;
/** Payouts of each outcome that come through the API, to compare the seed with. */
const HONEST = 3;
const WINDOW_SECONDS = 5;

/** A store of many payouts and its read models; no service runs on it unless a row starts one. */
export interface Ledger {
  readonly merchant: Credentials;
  /** The user with very many payouts. */
  readonly richUser: string;
  /** The user with 10. */
  readonly poorUser: string;
  /** Payouts of the merchant, those through the API included. */
  readonly payouts: number;
}

const created = new WeakMap<BenchEnvironment, Promise<Ledger>>();

/** The ledger of a run, created for the first row that needs it. */
export function ledger(context: RowContext): Promise<Ledger> {
  const known = created.get(context.environment) ?? create(context);
  created.set(context.environment, known);
  return known;
}

/** The service's own rebuild on the ledger. */
export async function openLedgerViews(environment: BenchEnvironment): Promise<Views> {
  return Views.open(await environment.database(LEDGER), join(environment.folder(LEDGER), 'secrets.json'));
}

async function create(context: RowContext): Promise<Ledger> {
  const { environment, options, checks } = context;
  context.progress('ledger: users and a few payouts through the API');
  const service = await startService(environment, {
    name: LEDGER,
    env: { PAYOUT_VERIFICATION_WINDOW_SECONDS: String(WINDOW_SECONDS), PAYOUT_CHECK_INTERVAL_MS: '100' },
  });
  const users = await activeUsers(service, 2 + OTHER_USERS);
  const pool = await environment.pool(LEDGER);
  // The payouts through the API belong to the last user, so that the first two have round numbers.
  await throughTheApi(service, users.at(-1)!, pool);
  await service.child.stop();

  await pool.query(EVENT_FORMS);
  for (const [type, stored] of [
    ['payout.reported.v1', 2 * HONEST],
    ['payout.received.v2', HONEST],
    ['payout.expired.v1', HONEST],
  ] as const) {
    const { rows } = await pool.query(FORM_MISMATCHES, [type]);
    checks.equal(`${type} through the API and as seeded`, rows[0], { stored, different: 0 });
  }
  context.progress(`ledger: ${options.payouts} payouts as events`);
  const secrets = join(environment.folder(LEDGER), 'secrets.json');
  const seeded = await withEventMacs(await environment.database(LEDGER), masterKeyOf(secrets), () =>
    seedEvents(pool, service.merchant.apiKey, users, options.payouts, options['user-payouts']),
  );
  context.progress(`ledger: read models of ${seeded} events`);
  const views = await openLedgerViews(environment);
  checks.equal(
    'ledger: events that the rebuild applied',
    await views.rebuild(),
    seeded + 4 * HONEST + users.length,
  );
  await views.close();
  // The other subscriptions count as done with the seed: a service that is behind is not ready.
  await pool.query(
    'update event_store.checkpoints set position = (select max(position)::text from event_store.events)',
  );
  const payouts = options.payouts + 2 * HONEST;
  const [richUser, poorUser] = users as [string, string];
  await checkViews(context, pool, { merchant: service.merchant, richUser, poorUser, payouts });
  return { merchant: service.merchant, richUser, poorUser, payouts };
}

async function throughTheApi(service: Service, userId: string, pool: pg.Pool): Promise<void> {
  const { baseUrl, merchant } = service;
  const user = (await call(baseUrl, merchant, 'GET', `/merchants/v1/users/${userId}`, 200)) as {
    user: { issuer_wallet_address: string };
  };
  for (let i = 0; i < HONEST; i += 1) {
    const to = user.user.issuer_wallet_address;
    const amount = `${i + 1}.50`;
    const sent = (await call(baseUrl, merchant, 'POST', '/merchants/v1/sandbox/transfers', 201, {
      to,
      amount,
    })) as {
      transaction_hash: string;
    };
    for (const transaction_hash of [sent.transaction_hash, `0x${'ab'.repeat(31)}0${i}`]) {
      const payout = { amount, transaction_hash, custom_metadata: { order: `A-${i}` } };
      await call(baseUrl, merchant, 'POST', '/merchants/v1/payouts/report', 201, { user_id: userId, payout });
    }
  }
  await eventually('the first payouts have their outcome', async () => {
    const { rows } = await pool.query<{ n: number }>(
      `select count(*)::int as n from event_store.events where type in ('payout.received.v2', 'payout.expired.v1')`,
    );
    return rows[0]!.n === 2 * HONEST;
  });
  await sleep(500);
}

/** Number of events written. Indexes are created afterwards; the sequence of positions continues after the seed. */
async function seedEvents(
  pool: pg.Pool,
  merchantId: string,
  users: readonly string[],
  payouts: number,
  userPayouts: number,
): Promise<number> {
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
      'select coalesce(max(position), 0) + 1 as last from event_store.events',
    );
    const { rowCount } = await client.query(SEED_EVENTS, [
      payouts,
      merchantId,
      users,
      userPayouts,
      rows[0]!.last,
    ]);
    for (const { name, definition } of constraints) {
      await client.query(`alter table event_store.events add constraint ${name} ${definition}`);
    }
    await client.query(
      `select setval('event_store.position', (select max(position) from event_store.events))`,
    );
    await client.query('commit');
    await client.query('vacuum analyze event_store.events');
    return rowCount ?? 0;
  } finally {
    client.release();
  }
}

/** The read models hold what the events say, counted from the events themselves. */
async function checkViews({ checks, options }: RowContext, pool: pg.Pool, ledger: Ledger): Promise<void> {
  const one = async (sql: string, params: unknown[] = []): Promise<unknown> =>
    (await pool.query<{ n: unknown }>(sql, params)).rows[0]!.n;
  const listed = 'select count(*)::int as n from payouts.payouts where merchant_id = $1';
  checks.equal('ledger: rows in the list', await one(listed, [ledger.merchant.apiKey]), ledger.payouts);
  const ofUser = 'select count(*)::int as n from payouts.payouts where user_id = $1';
  checks.equal(
    'ledger: payouts of the rich user',
    await one(ofUser, [ledger.richUser]),
    options['user-payouts'],
  );
  checks.equal('ledger: payouts of the poor user', await one(ofUser, [ledger.poorUser]), 10);
  const totals = (from: string): string =>
    `select json_object_agg(status, total order by status) as n from (${from}) totals`;
  const fromEvents = totals(`
    select status, sum((data::json->>'amount')::numeric * 1000000)::bigint::text as total
    from (
      select data, case type when 'payout.reported.v1' then 'reported' when 'payout.received.v2' then 'confirmed'
        else 'expired' end as status
      from event_store.events where type like 'payout.%'
    ) e where status <> 'expired' group by status`);
  const fromViews = totals(`
    select 'reported' as status, sum(amount_minor)::text as total from payouts.payouts
    union all select 'confirmed', sum(confirmed)::text from payouts.balances`);
  checks.equal(
    'ledger: sums of the read models and of the events',
    await one(fromViews),
    await one(fromEvents),
  );
  const pending = `select sum(amount_minor)::text as n from payouts.payouts where status = 0`;
  checks.equal(
    'ledger: pending sums',
    await one('select sum(pending)::text as n from payouts.balances'),
    await one(pending),
  );
}

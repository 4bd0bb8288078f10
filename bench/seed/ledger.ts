import type pg from 'pg';
import { count } from '../support/count.js';
import { createPayees } from '../support/payees.js';
import type { RowContext } from '../harness/row.js';
import type { BenchEnvironment } from '../support/environment.js';
import { runProgram } from '../support/program.js';
import { operatorEnv, startService } from '../support/service.js';
import type { Credentials } from '../support/sign.js';
import { Database } from '../../src/platform/postgres/database.js';
import { KeyRing, MasterKey } from '../../src/platform/sealing/key-ring.js';
import { readCopies } from '../../src/platform/sealing/key-ring-store.js';
import { deriveKey, keyId } from '../../src/platform/sealing/sealer.js';

const BLOCK_BYTES = 64;

/** Adds MACs (event-mac.ts) to the events that `seed` inserts by SQL. Opens the key ring. */
async function withEventMacs<T>(url: string, masterKey: Buffer, seed: () => Promise<T>): Promise<T> {
  const database = await Database.connect({ url, poolSize: 1 });
  try {
    const master = new MasterKey(masterKey);
    const ring = await KeyRing.open(database, { current: master, former: null });
    const copies = await readCopies(database);
    const key = copies
      .map((copy) => master.unwrap(copy))
      .find((each) => keyId(each) === ring.sealer.sealsWith)!;
    await database.query(triggerOf(keyId(key), deriveKey(key, 'mac')));
    try {
      return await seed();
    } finally {
      await database.query('drop function event_store.seeded_mac() cascade');
    }
  } finally {
    await database.close();
  }
}

/** HMAC-SHA256 by PostgreSQL's own functions, without extensions. */
function triggerOf(id: string, key: Buffer): string {
  const padded = Buffer.concat([key, Buffer.alloc(BLOCK_BYTES - key.length)]);
  const pad = (byte: number): string => Buffer.from(padded.map((each) => each ^ byte)).toString('hex');
  return `
    create function event_store.seeded_mac() returns trigger language plpgsql as $$
    declare
      message bytea := convert_to('event' || e'\\n["' || new.stream || '",' || new.revision || ',"' || new.id || '","'
        || new.type || '"]' || e'\\n' || new.data || e'\\n' || new.metadata, 'UTF8');
    begin
      new.metadata := case new.metadata when '{}' then '{' else left(new.metadata, -1) || ',' end || '"mac":"${id}.'
        || rtrim(translate(encode(sha256('\\x${pad(0x5c)}'::bytea || sha256('\\x${pad(0x36)}'::bytea || message)),
          'base64'), '+/', '-_'), '=') || '"}';
      return new;
    end $$;
    create trigger seeded_mac before insert on event_store.events for each row
      when (new.metadata not like '%"mac":%') execute function event_store.seeded_mac();`;
}

/** Payouts reported between a report and its outcome. */
const OUTCOME_LAG = 500;

const iso = (time: string): string =>
  `to_char((${time}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * The events of very many payouts, written by PostgreSQL, valid by every rule of the audit. They are reports,
 * claims of transfers and outcomes. $1 number of payouts, $2 merchant, $3 user ids. $4 their wallets, $5
 * payouts of the first user, $6 the last position before. The payouts of the first user are spread evenly,
 * the second user has 10, the others share the rest. One fifth is pending, a tenth expired, the rest
 * received. Pairs of payouts share a creation time, so that only the id distinguishes them.
 */
const SEED_EVENTS = `
with params as (
  select $1::int as payouts, $2::text as merchant, $3::text[] as users, $4::text[] as wallets, $5::int as first_share,
    $6::bigint as base, date_trunc('day', now()) - interval '90 days' as start, interval '90 days' / $1::int as step
), payout as materialized (
  select i, md5('payout ' || i)::uuid::text as id, '0x' || md5('hash ' || i) || md5('h ' || i) as hash,
    ((4 + i % 997) * 0.25)::numeric(12, 2)::text as amount, start + step * (i / 2 * 2) as created_at,
    case when chance < 20 then 'pending' when chance < 30 then 'expired' else 'received' end as status,
    case
      when i % (payouts / first_share) = 0 then 1
      when i % (payouts / 10) = 1 then 2
      else 3 + i % (cardinality(users) - 2)
    end as u
  from params, generate_series(0, payouts - 1) i, lateral (select abs(hashint4(i)::bigint) % 100 as chance) hashed
), fact as (
  select payout.*, wallets[u] as wallet, jsonb_build_object('payout_id', id, 'merchant_id', merchant, 'user_id', users[u],
    'amount', amount, 'currency_code', 'USDC', 'transaction_hash', hash, 'custom_metadata', '{"order":"A-' || i || '"}',
    'chain_id', 31337) as facts
  from payout, params
), event as (
  select i as place, 0 as step, i, 'payout-' || id as stream, 0 as revision, 'payout.reported.v1' as type, created_at as at,
    facts || jsonb_build_object('created_at', ${iso('created_at')}, 'expires_at', ${iso("created_at + interval '1 day'")})
      as data
  from fact
  union all
  select i + ${OUTCOME_LAG}, 1, i, 'transfer-31337_' || hash || '_0', 0, 'claim.taken.v1', created_at,
    jsonb_build_object('owner', 'payout-' || id)
  from fact where status = 'received'
  union all
  select i + ${OUTCOME_LAG}, 2, i, 'payout-' || id, 1, 'payout.received.v2', created_at,
    facts || jsonb_build_object('log_index', 0, 'block_number', 1000 + i,
      'received_at', ${iso("created_at + interval '1 minute'")}, 'created_at', ${iso('created_at')},
      'block_hash', '0x' || md5('block ' || i) || md5('b ' || i), 'block_time', ${iso('created_at')}, 'confirmations', 12,
      'token', '0x' || left(md5('token') || md5('t'), 40), 'from', '0x' || left(md5('from') || md5('f'), 40), 'to', lower(wallet),
      'value', ((4 + i % 997) * 250000)::text, 'receipt_sha256', md5('receipt ' || i) || md5('r ' || i))
  from fact where status = 'received'
  union all
  select i + ${OUTCOME_LAG}, 2, i, 'payout-' || id, 1, 'payout.expired.v1', created_at,
    facts || jsonb_build_object('reason', 'The transfer was not found', 'expired_at', ${iso("created_at + interval '1 day'")})
  from fact where status = 'expired'
)
insert into event_store.events (position, stream, revision, id, type, data, metadata, recorded_at)
select base + 1 + 3 * place + event.step, stream, revision, md5(stream || ' ' || revision)::uuid, type, data::text,
  '{"merchant_id":"' || merchant || '","request_id":"' || md5('request ' || i)::uuid || '"}', at + interval '1 second'
from event, params order by place, event.step`;

/** The name of the database and of the service's folder. */
export const LEDGER = 'ledger';
/** Users that share the payouts of neither the first nor the second user. */
const OTHER_USERS = 30;

/** A store of many payouts and its read models; no service runs on it unless a row starts one. */
export interface Ledger {
  readonly merchant: Credentials;
  readonly richUser: string;
  /** The user with 10 payouts. */
  readonly poorUser: string;
  /** The last position before the seed, which the service's sagas have reached. */
  readonly seededAfter: string;
  readonly events: number;
  /** The environment of operators' programs. */
  readonly env: Readonly<Record<string, string>>;
}

interface LedgerContext extends Pick<RowContext, 'environment' | 'progress'> {
  readonly options: Pick<RowContext['options'], 'payouts' | 'user-payouts'>;
}

const created = new WeakMap<BenchEnvironment, Promise<Ledger>>();

export function ledger(context: LedgerContext): Promise<Ledger> {
  const known = created.get(context.environment) ?? create(context);
  created.set(context.environment, known);
  return known;
}

export async function rebuildPayouts(
  environment: BenchEnvironment,
  { env }: Pick<Ledger, 'env'>,
): Promise<{ readonly events: number; readonly seconds: number }> {
  const args = ['rebuild', '--json', 'payouts.views', '--reason', 'the seed of the bench'];
  const { printed } = await runProgram(environment, args, env);
  return JSON.parse(printed) as { events: number; seconds: number };
}

async function create({ environment, options, progress }: LedgerContext): Promise<Ledger> {
  progress('ledger: users');
  const service = await startService(environment, { name: LEDGER });
  const users = await createPayees(service, 2 + OTHER_USERS);
  await service.stop();
  const env = await operatorEnv(environment, LEDGER);
  const pool = await environment.pool(LEDGER);
  progress(`ledger: ${options.payouts} payouts as events`);
  const seededAfter = await withEventMacs(env.DATABASE_URL, Buffer.from(env.MASTER_KEY, 'hex'), () =>
    seedEvents(pool, [
      options.payouts,
      service.merchant.apiKey,
      users.map(({ id }) => id),
      users.map(({ wallet }) => wallet),
      // The seed divides the payouts by this number.
      Math.min(options['user-payouts'], Math.floor(options.payouts / 4)),
    ]),
  );
  progress('ledger: read models');
  await rebuildPayouts(environment, { env });
  // The other subscriptions skip the seed, because a service that is behind is not ready.
  await pool.query(
    'update event_store.checkpoints set position = (select max(position)::text from event_store.events)',
  );
  const events = await count(pool, 'event_store.events');
  const [richUser, poorUser] = users.map(({ id }) => id) as [string, string];
  return { merchant: service.merchant, richUser, poorUser, seededAfter, events, env };
}

/** Adds constraints after the rows, and moves the sequence of positions. Returns the last one before. */
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

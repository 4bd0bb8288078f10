import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Random } from '../random.js';
import type { Group } from './tampering-harness.js';

/** A change and the beginning of the difference that names it. */
interface Changed {
  readonly name: string;
  readonly named: string;
}

/** Tables that steer money or persons: the columns of their keys, and columns that follow from the events. */
const ROWS: Readonly<Record<string, { readonly keys: string; readonly columns: readonly string[] }>> = {
  'payouts.payouts': {
    keys: 'id',
    columns: ['status', 'amount_minor', 'body', 'merchant_id', 'user_id', 'log_index'],
  },
  'payouts.balances': { keys: 'user_id', columns: ['confirmed', 'pending', 'merchant_id', 'deactivating'] },
  'users.users': { keys: 'user_id', columns: ['wallet', 'merchant_id', 'state'] },
  'exchange.orders': { keys: 'id', columns: ['status', 'body', 'key_id'] },
  'access.merchants': { keys: 'merchant_id', columns: ['status', 'name'] },
  'access.operators': { keys: 'operator_id', columns: ['role', 'status', 'email'] },
  'access.credentials': {
    keys: 'credential_id',
    columns: ['owner_id', 'operator_id', 'merchant_id', 'kind', 'secret_hash'],
  },
  'webhooks.deliveries': { keys: 'delivery_id', columns: ['body', 'type', 'endpoint_id'] },
  'webhooks.endpoint_snapshots': { keys: 'endpoint_id', columns: ['url', 'status', 'merchant_id'] },
};
const ANOTHER: Readonly<Record<string, string>> = {
  state: `(case when pg_typeof(state)::text = 'smallint' then '2' else 'exhausted' end)`,
  status: `(case when pg_typeof(status)::text = 'smallint' then '2' else 'disabled' end)`,
  amount_minor: '(amount_minor + 1)::text',
  confirmed: '(confirmed + 1)::text',
  pending: '(pending + 1)::text',
  deactivating: '(not deactivating)::text',
  log_index: '(coalesce(log_index, 0) + 1)::text',
};

type TableTampering = (db: pg.Client, random: Random, used: Set<string>) => Promise<Changed | null>;

/** Returns an untouched row as text. */
async function rowOf(
  db: pg.Client,
  table: string,
  random: Random,
  used: Set<string>,
  where = 'true',
): Promise<{ readonly at: string; readonly place: string } | null> {
  const { keys } = ROWS[table] ?? { keys: 'subject' };
  const { rows } = await db.query<{ at: string; key: string }>(
    `select ctid::text as at, concat_ws(' ', ${keys}) as key from ${table} where ${where} order by ${keys}`,
  );
  const free = rows.filter(({ key }) => !used.has(`${table} ${key}`));
  if (free.length === 0) return null;
  const { at, key } = random.pick(free);
  used.add(`${table} ${key}`);
  return { at, place: `${table} ${key}` };
}

const changeRow: TableTampering = async (db, random, used) => {
  const table = random.pick(Object.keys(ROWS));
  const row = await rowOf(db, table, random, used);
  if (row === null) return null;
  const column = random.pick(ROWS[table]!.columns);
  const { rows: types } = await db.query<{ type: string }>(
    `select format_type(atttypid, null) as type from pg_attribute where attrelid = $1::regclass and attname = $2`,
    [table, column],
  );
  const { type } = types[0]!;
  const other = type === 'uuid' ? `'${randomUUID()}'` : (ANOTHER[column] ?? `${column} || 'x'`);
  const { rowCount } = await db.query(
    `update ${table} set ${column} = (${other})::${type} where ctid = $1 and ${column}::text <> ${other}`,
    [row.at],
  );
  return rowCount === 0 ? null : { name: `${table} changed`, named: row.place };
};

const deleteRow: TableTampering = async (db, random, used) => {
  const table = random.pick(Object.keys(ROWS));
  const row = await rowOf(db, table, random, used);
  if (row === null) return null;
  const { rowCount } = await db.query(`delete from ${table} where ctid = $1`, [row.at]);
  // An added rule prevents it.
  return rowCount === 0 ? null : { name: `${table} deleted`, named: row.place };
};

/** Copies a row under another key. */
const addRow: TableTampering = async (db, random, used) => {
  const table = random.pick(Object.keys(ROWS).filter((each) => !ROWS[each]!.keys.includes(',')));
  const { keys } = ROWS[table]!;
  const id = randomUUID();
  const { rowCount } = await db.query(
    `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object('${keys}', $1::text))).* from ${table} t limit 1`,
    [id],
  );
  used.add(`${table} ${id}`);
  return rowCount === 0 ? null : { name: `${table} added`, named: `${table} ${id}` };
};

const personalKey: TableTampering = async (db, random, used) => {
  const table = 'platform.personal_keys';
  const row = await rowOf(db, table, random, used, 'wrapped_key is not null');
  if (row === null) return null;
  const how = random.pick(['deleted', 'dropped', 'swapped'] as const);
  if (how === 'deleted') await db.query(`delete from ${table} where ctid = $1`, [row.at]);
  else if (how === 'dropped')
    await db.query(`update ${table} set wrapped_key = null, forgotten_at = now() where ctid = $1`, [row.at]);
  else
    await db.query(
      `update ${table} set wrapped_key = (select wrapped_key from ${table} where ctid <> $1 and wrapped_key is not null limit 1)
       where ctid = $1`,
      [row.at],
    );
  return { name: `personal key ${how}`, named: row.place };
};

const catalogue: TableTampering = async (db, random, used) => {
  const table = random.pick(['event_store.events', ...Object.keys(ROWS)]);
  const name = `quiet_${random.bytes(4).toString('hex')}`;
  const kind = random.pick(['trigger', 'rule', 'policy', 'row security', 'function'] as const);
  const sql = {
    trigger: `create or replace function public.quiet() returns trigger language plpgsql as 'begin return null; end';
      create trigger ${name} before insert on ${table} for each row execute function public.quiet()`,
    rule: `create rule ${name} as on delete to ${table} do instead nothing`,
    policy: `create policy ${name} on ${table} using (false)`,
    'row security': `alter table ${table} enable row level security`,
    function: `create function ${table.split('.')[0]}.${name}() returns int language sql as 'select 1'`,
  }[kind];
  const once = `${kind} ${kind === 'row security' ? table : name}`;
  if (used.has(once)) return null;
  used.add(once);
  await db.query(sql);
  const named = kind === 'row security' ? `a row security on ${table}` : `a ${kind} ${name}`;
  return { name: kind, named: `the database has ${named}` };
};

const receipt: TableTampering = async (db, random, used) => {
  const { rows } = await db.query<{ hash: string }>(
    `select encode(sha256, 'hex') as hash from payouts.receipts order by 1`,
  );
  const free = rows.filter(({ hash }) => !used.has(hash));
  if (free.length === 0) return null;
  const { hash } = random.pick(free);
  used.add(hash);
  await db.query(`update payouts.receipts set receipt = receipt || ' ' where sha256 = decode($1, 'hex')`, [
    hash,
  ]);
  return { name: 'receipt changed', named: `payouts.receipts ${hash}` };
};

const TAMPERINGS = [changeRow, changeRow, deleteRow, addRow, personalKey, catalogue, receipt];

/**
 * Changes rows of tables that steer money or persons, and objects of the database that hide them, in a copy of the
 * database.
 */
export const tables: Group = {
  percent: 15,
  atOnce: 15,
  async run(harness, random, count) {
    const done: Changed[] = [];
    const used = new Set<string>();
    await harness.withCopy(async (db, url) => {
      while (done.length < count) {
        const changed = await random.pick(TAMPERINGS)(db, random, used);
        if (changed !== null) done.push(changed);
      }
      const { exitCode, differences } = await harness.verify(url);
      harness.verdict.equal(exitCode, 2, 'exit code of verify over tables that were changed');
      for (const { name, named } of done)
        harness.verdict.expect(
          differences.some((each) => each.startsWith(named)),
          `named: ${name}, ${named}`,
          differences,
        );
    });
    return done.map(({ name }) => name);
  },
};

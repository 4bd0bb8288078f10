import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Random } from '../random.js';
import type { Group, TamperingHarness } from './tampering-harness.js';
import { eventually } from '../../../../bench/support/wait.js';
import { describeFinding } from '../../../../src/contexts/audit/verify/findings.js';
import { MerkleTree } from '../../../../src/contexts/audit/ledger/merkle-tree.js';

/** A change, and the beginning of the difference that names it. */
interface Changed {
  readonly name: string;
  readonly named: string;
}

/** Tables about money or persons: their key columns, and columns that follow from the events. */
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

/** Changes rows of tables about money or persons, and objects that hide them, in a copy of the database. */
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

const EVENTS = 'event_store.events';
const TABLES = ['signing_keys', 'heads', 'last_head', 'leaves', 'ledger'] as const;

const saved = (name: string): string =>
  TABLES.map((table) => `create temp table ${name}_${table} as table audit.${table}`).join(';');
const restored = (name: string): string =>
  `${TABLES.map((table) => `delete from audit.${table}; insert into audit.${table} table ${name}_${table}`).join(';')};
   update event_store.checkpoints set position = (select position::text from audit.ledger) where name = 'audit.ledger'`;
const dropped = (name: string): string =>
  `drop table ${TABLES.map((table) => `${name}_${table}`).join(', ')}`;

type LedgerTampering = (harness: TamperingHarness, random: Random) => Promise<unknown>;

const emptied =
  (...tables: readonly string[]): LedgerTampering =>
  (harness) =>
    harness.change(`truncate ${tables.map((table) => `audit.${table}`).join(', ')} cascade`);
const lastHead =
  (change: string): LedgerTampering =>
  ({ db }) =>
    db.query(`update audit.last_head set ${change}`);

const LEDGER: Readonly<Record<string, LedgerTampering>> = {
  'frontier over a forged event': async ({ db }, random) => {
    const { rows } = await db.query<{ size: string; peaks: Buffer }>('select size, peaks from audit.ledger');
    const tree = new MerkleTree(Number(rows[0]!.size), rows[0]!.peaks);
    tree.append(random.bytes(32));
    await db.query('update audit.ledger set size = $1, peaks = $2', [tree.size, tree.peakBytes]);
  },
  'cut back to an older head, and the events behind it rewritten': (harness) =>
    harness.change(
      `${restored('older')};
       update ${EVENTS} set data = replace(data, '"', '" ') || ' ', metadata = '{}'
       where position > (select position from audit.ledger)`,
    ),
  ...Object.fromEntries(TABLES.map((table) => [`${table} emptied`, emptied(table)])),
  'all emptied': emptied(...TABLES),
  'size of the last head': lastHead('size = size - 1'),
  'hash of the last head': lastHead(`hash = repeat('0', 64)`),
  'MAC of the last head': lastHead('mac = (select mac from audit.ledger)'),
  'last heads deleted': ({ db }, random) =>
    db.query(
      `delete from audit.heads
       where size in (select size from audit.heads order by size desc limit ${1 + random.below(3)})`,
    ),
};

/**
 * The tables of the ledger are changed, and an event is written meanwhile. The running signer signs nothing
 * until they are restored, and the service is not ready.
 */
export const ledgerTables: Group = {
  percent: 4,
  stops: true,
  atOnce: Object.keys(LEDGER).length,
  async run(harness, random, count) {
    const { db, verdict } = harness;
    const kinds = random.deal(Object.keys(LEDGER), count);
    await db.query(saved('older'));
    for (const kind of kinds) {
      await harness.works();
      const before = await harness.signed();
      await db.query(`create temp table recorded as table ${EVENTS}; ${saved('newest')}`);
      await LEDGER[kind]!(harness, random);
      await harness.write();
      await eventually(`the ledger is not ready: ${kind}`, async () =>
        /"ledger":\{"status":"unavailable"/.test((await harness.service.health()).text),
      );
      await harness.ticks();
      const { rows } = await db.query<object>('select size from audit.heads where size > $1', [before]);
      verdict.none(`heads signed meanwhile: ${kind}`, rows);
      const { findings } = await harness.verify();
      verdict.expect(
        findings.some((each) => ['ledger', 'head', 'truncated', 'forged'].includes(each.kind)),
        `named: ${kind}`,
        findings.map(describeFinding),
      );
      await harness.change(
        `${restored('newest')}; ${dropped('newest')};
         delete from ${EVENTS} where position in (select position from recorded);
         insert into ${EVENTS} table recorded; drop table recorded`,
      );
    }
    await db.query(dropped('older'));
    return kinds;
  },
};

/**
 * The reference of the events-process row. One statement per batch reads, parses and inserts it, with a
 * commit per batch. The table has the columns and indexes of tracking.events, but no months, marks on batches
 * or journal of new items.
 */
import pg from 'pg';
import { onRun } from './on-run.js';

const READ = 8;

interface Item {
  readonly event_id: string;
  readonly event_name: string;
  readonly event_datetime: string;
  readonly user_external_id: string;
  readonly device_id: string | null;
  readonly payload: object;
}

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 2 });
await pool.query(`
  create table if not exists bare_batches (
    n bigserial primary key, batch_id uuid not null, merchant_id uuid not null, received_at timestamptz not null,
    item_count int not null, body bytea not null);
  alter table bare_batches alter column body set storage external;
  create table if not exists bare_events (
    merchant_id uuid not null, event_id uuid not null, received_at timestamptz not null,
    user_external_id text collate "C" not null, event_name text collate "C" not null,
    event_datetime timestamptz not null, device_id text, payload text not null);
  create unique index if not exists bare_events_once on bare_events (merchant_id, event_id);
  create index if not exists bare_events_of_user
    on bare_events (merchant_id, user_external_id, event_datetime, event_id);
`);
onRun(Number(process.env['PORT']), insertAll);

async function insertAll(): Promise<void> {
  for (let after = '0'; ;) {
    const { rows } = await pool.query<{ n: string; merchant_id: string; received_at: Date; body: Buffer }>({
      name: 'read',
      text: `select n, merchant_id, received_at, body from bare_batches where n > $1 order by n limit ${READ}`,
      values: [after],
    });
    if (rows.length === 0) return;
    for (const { merchant_id, received_at, body } of rows) await insert(merchant_id, received_at, body);
    after = rows.at(-1)!.n;
  }
}

async function insert(merchantId: string, receivedAt: Date, body: Buffer): Promise<void> {
  const { events } = JSON.parse(body.toString('utf8')) as { events: Item[] };
  await pool.query({
    name: 'insert',
    text: `insert into bare_events
        (merchant_id, event_id, received_at, user_external_id, event_name, event_datetime, device_id, payload)
      select $1, event_id, $2, user_external_id, lower(event_name), event_datetime, device_id, payload
      from unnest($3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[])
        as item (event_id, user_external_id, event_name, event_datetime, device_id, payload)
      on conflict do nothing`,
    values: [
      merchantId,
      receivedAt,
      events.map((each) => each.event_id),
      events.map((each) => each.user_external_id),
      events.map((each) => each.event_name),
      events.map((each) => each.event_datetime),
      events.map((each) => each.device_id),
      events.map((each) => JSON.stringify(each.payload)),
    ],
  });
}

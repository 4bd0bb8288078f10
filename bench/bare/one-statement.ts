import type pg from 'pg';
import { toMinorUnits } from '../../src/kernel/money.js';

/** Events per statement. */
export const STATEMENT_EVENTS = 5000;

/** Read models like the service's, in the schema `bench`, as they stand before the events to catch up with. */
export const CATCHUP_TABLES = `
drop table if exists bench.payouts, bench.balances, bench.checkpoint;
create table bench.payouts (like payouts.payouts including all);
create table bench.balances (like payouts.balances including all);
create table bench.checkpoint (position bigint not null);
insert into bench.payouts select * from payouts.payouts;
insert into bench.balances select * from payouts.balances;
`;

/**
 * One statement for all rows of a batch and its checkpoint. $1 the checkpoint; $2 to $7 the reports as columns: id,
 * merchant, user, creation time, minor units, body; $8 to $10 the outcomes: id, status, body before the creation time.
 */
const APPLY = `
with outcomes as materialized (
  select * from unnest($8::uuid[], $9::smallint[], $10::text[]) as o (id, status, before_time)
), reported as (
  insert into bench.payouts (id, merchant_id, user_id, status, created_at, amount_minor, body)
  select r.id, r.merchant_id, r.user_id, coalesce(o.status, 0), r.created_at::timestamptz, r.amount_minor,
    coalesce(o.before_time || r.created_at || '"}', r.body)
  from unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::text[])
    as r (id, merchant_id, user_id, created_at, amount_minor, body)
    left join outcomes o using (id)
  on conflict (id) do nothing
  returning user_id, amount_minor, status
), settled as (
  update bench.payouts p set status = o.status,
    body = o.before_time || to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"}'
  from outcomes o where p.id = o.id and p.status = 0
  returning p.user_id, p.amount_minor, p.status
), totals as (
  select user_id, sum(pending)::bigint as pending, sum(confirmed)::bigint as confirmed from (
    select user_id, case status when 0 then amount_minor else 0 end as pending,
      case status when 1 then amount_minor else 0 end as confirmed from reported
    union all
    select user_id, -amount_minor, case status when 1 then amount_minor else 0 end from settled
  ) changes group by user_id
), moved as (
  update bench.balances b set pending = b.pending + t.pending, confirmed = b.confirmed + t.confirmed
  from totals t where b.user_id = t.user_id
)
update bench.checkpoint set position = $1
`;

type EventRow = [position: string, type: string, data: string];

/** Applies everything after `after`, one statement per 5,000 events. Number of events. */
export async function oneStatementPerBatch(client: pg.Client, after: string): Promise<number> {
  let count = 0;
  let position = after;
  for (;;) {
    const { rows } = await client.query<EventRow>({
      name: 'events-after',
      text: `select position, type, data from event_store.events where position > $1 order by position
        limit ${STATEMENT_EVENTS}`,
      values: [position],
      rowMode: 'array',
    });
    if (rows.length === 0) return count;
    position = rows.at(-1)![0];
    await client.query({ name: 'apply', text: APPLY, values: [position, ...columns(rows)] });
    count += rows.length;
  }
}

interface Facts {
  readonly payout_id: string;
  readonly merchant_id: string;
  readonly user_id: string;
  readonly amount: string;
  readonly transaction_hash: string;
  readonly custom_metadata: string;
  readonly created_at: string;
  readonly reason?: string;
}

const STATUS: Readonly<Record<string, readonly [number, string]>> = {
  'payout.reported.v1': [0, 'pending'],
  'payout.received.v2': [1, 'received'],
  'payout.expired.v1': [2, 'expired'],
};

/** Parameters $2 to $10 of the statement. */
function columns(rows: readonly EventRow[]): unknown[][] {
  const lists = Array.from({ length: 9 }, (): unknown[] => []);
  const add = (first: number, values: readonly unknown[]): void =>
    values.forEach((value, i) => lists[first + i]!.push(value));
  for (const [, type, data] of rows) {
    const facts = JSON.parse(data) as Facts;
    const [status, word] = STATUS[type]!;
    const before =
      `{"id":"${facts.payout_id}","user_id":"${facts.user_id}","amount":"${facts.amount}","currency_code":"USDC",` +
      `"status":"${word}","transaction_hash":${JSON.stringify(facts.transaction_hash)},` +
      `"reason":${JSON.stringify(facts.reason ?? null)},"custom_metadata":${facts.custom_metadata},"created_at":"`;
    const { payout_id: id, merchant_id: merchant, user_id: user, created_at: at } = facts;
    if (status === 0) add(0, [id, merchant, user, at, toMinorUnits(facts.amount), `${before}${at}"}`]);
    else add(6, [id, status, before]);
  }
  return lists;
}

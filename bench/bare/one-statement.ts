import type pg from 'pg';

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
 * One statement for all rows of a batch: payouts, outcomes and balances, and the checkpoint in the same transaction.
 * $1 the events as one JSON array of {type, data}, $2 the position of the last one.
 */
const APPLY = `
with events as materialized (
  select e->>'type' as type, d.* from json_array_elements($1::json) e,
    lateral json_to_record(e->'data') as d(payout_id uuid, merchant_id uuid, user_id uuid, amount numeric,
      created_at timestamptz, body text, before_time text, status smallint)
), outcomes as (
  select * from events where type <> 'payout.reported.v1'
), reported as (
  insert into bench.payouts (id, merchant_id, user_id, status, created_at, amount_minor, body)
  select r.payout_id, r.merchant_id, r.user_id, coalesce(o.status, 0), r.created_at, (r.amount * 1000000)::bigint,
    coalesce(o.before_time || to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"}', r.body)
  from events r left join outcomes o using (payout_id) where r.type = 'payout.reported.v1'
  on conflict (id) do nothing
  returning id, user_id, amount_minor, status
), settled as (
  update bench.payouts p set status = o.status,
    body = o.before_time || to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"}'
  from outcomes o where p.id = o.payout_id and p.status = 0
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
update bench.checkpoint set position = $2
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
    await client.query({
      name: 'apply',
      text: APPLY,
      values: [`[${rows.map(element).join(',')}]`, position],
    });
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
  readonly created_at?: string;
  readonly reason?: string;
}

const STATUS: Readonly<Record<string, readonly [number, string]>> = {
  'payout.reported.v1': [0, 'pending'],
  'payout.received.v1': [1, 'received'],
  'payout.expired.v1': [2, 'expired'],
};

function element([, type, data]: EventRow): string {
  const facts = JSON.parse(data) as Facts;
  const [status, word] = STATUS[type]!;
  const before =
    `{"id":"${facts.payout_id}","user_id":"${facts.user_id}","amount":"${facts.amount}","currency_code":"USDC",` +
    `"status":"${word}","transaction_hash":${JSON.stringify(facts.transaction_hash)},` +
    `"reason":${JSON.stringify(facts.reason ?? null)},"custom_metadata":${facts.custom_metadata},"created_at":"`;
  const rest =
    facts.created_at === undefined
      ? { before_time: before, status }
      : { created_at: facts.created_at, body: `${before}${facts.created_at}"}` };
  const { payout_id, merchant_id, user_id, amount } = facts;
  return JSON.stringify({ type, data: { payout_id, merchant_id, user_id, amount, ...rest } });
}

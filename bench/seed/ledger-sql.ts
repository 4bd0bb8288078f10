/**
 * The events of a million payouts, written by PostgreSQL in the very form in which the service stores them. The functions below
 * are checked against events that came through the API (see ledger.ts), so the seed stays honest when the form changes.
 */

/** `bench.reported`, `bench.received`, `bench.expired`: the text of `data` for given facts. */
export const EVENT_FORMS = `
create schema if not exists bench;

create or replace function bench.iso(at timestamptz) returns text language sql immutable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

create or replace function bench.facts(
  payout_id text, merchant_id text, user_id text, amount text, hash text, custom_metadata text
) returns text language sql immutable as $$
  select '{"payout_id":"' || payout_id || '","merchant_id":"' || merchant_id || '","user_id":"' || user_id
    || '","amount":"' || amount || '","currency_code":"USDC","transaction_hash":"' || hash
    || '","custom_metadata":' || to_json(custom_metadata)::text || ',"chain_id":31337'
$$;

create or replace function bench.reported(facts text, created_at timestamptz, expires_at timestamptz)
returns text language sql immutable as $$
  select facts || ',"created_at":"' || bench.iso(created_at) || '","expires_at":"' || bench.iso(expires_at) || '"}'
$$;

-- evidence: block_hash, token, from, to, value, receipt_sha256.
create or replace function bench.received(
  facts text, log_index int, block_number int, at timestamptz, created_at timestamptz, block_time timestamptz,
  confirmations int, evidence text[]
) returns text language sql immutable as $$
  select facts || ',"log_index":' || log_index || ',"block_number":' || block_number
    || ',"received_at":"' || bench.iso(at) || '","created_at":"' || bench.iso(created_at)
    || '","block_hash":"' || evidence[1] || '","block_time":"' || bench.iso(block_time)
    || '","confirmations":' || confirmations || ',"token":"' || evidence[2] || '","from":"' || evidence[3]
    || '","to":"' || evidence[4] || '","value":"' || evidence[5] || '","receipt_sha256":"' || evidence[6] || '"}'
$$;

create or replace function bench.expired(facts text, reason text, at timestamptz)
returns text language sql immutable as $$
  select facts || ',"reason":' || to_json(reason)::text || ',"expired_at":"' || bench.iso(at) || '"}'
$$;
`;

/** How many stored events differ from what the functions above make of the same facts. $1 is the type. */
export const FORM_MISMATCHES = `
with stored as (
  select type, data as text, data::jsonb as data from event_store.events where type = $1
), expected as (
  select type, text, data, bench.facts(data->>'payout_id', data->>'merchant_id', data->>'user_id', data->>'amount',
    data->>'transaction_hash', data->>'custom_metadata') as facts
  from stored
)
select count(*)::int as stored, (count(*) filter (where text is distinct from case type
  when 'payout.reported.v1' then
    bench.reported(facts, (data->>'created_at')::timestamptz, (data->>'expires_at')::timestamptz)
  when 'payout.received.v2' then
    bench.received(facts, (data->>'log_index')::int, (data->>'block_number')::int, (data->>'received_at')::timestamptz,
      (data->>'created_at')::timestamptz, (data->>'block_time')::timestamptz, (data->>'confirmations')::int,
      array[data->>'block_hash', data->>'token', data->>'from', data->>'to', data->>'value', data->>'receipt_sha256'])
  when 'payout.expired.v1' then
    bench.expired(facts, data->>'reason', (data->>'expired_at')::timestamptz)
end))::int as different
from expected
`;

/** How many payouts are reported between a report and its outcome. */
export const OUTCOME_LAG = 500;

/**
 * $1 number of payouts, $2 merchant, $3 user ids, $4 payouts of the first user, $5 first position.
 * The first user has $4 payouts spread evenly, the second user 10, the others share the rest. One fifth is pending,
 * a tenth expired, the rest received. Pairs of payouts share a creation time, so that only the id distinguishes them.
 */
export const SEED_EVENTS = `
with params as (
  select $1::int as payouts, $2::text as merchant, $3::text[] as users, $4::int as first_share, $5::bigint as base,
    date_trunc('day', now()) - interval '90 days' as start, interval '90 days' / $1::int as step
), numbered as materialized (
  select place, each.i, each.outcome from params,
    generate_series(0, payouts - 1 + ${OUTCOME_LAG}) place,
    lateral (values (place, false), (place - ${OUTCOME_LAG}, true)) each (i, outcome)
  where each.i >= 0 and each.i < payouts and not (each.outcome and abs(hashint4(each.i)::bigint) % 100 < 20)
), facts as (
  select n.place, n.i, n.outcome, p.base, md5('payout ' || n.i)::uuid::text as id,
    p.start + p.step * (n.i / 2 * 2) as created_at,
    abs(hashint4(n.i)::bigint) % 100 < 30 as expires,
    bench.facts(
      md5('payout ' || n.i)::uuid::text, p.merchant,
      p.users[case
        when n.i % (p.payouts / p.first_share) = 0 then 1
        when n.i % (p.payouts / 10) = 1 then 2
        else 3 + n.i % (cardinality(p.users) - 2)
      end],
      ((4 + n.i % 997) * 0.25)::numeric(12, 2)::text,
      '0x' || md5('hash ' || n.i) || md5('h ' || n.i),
      '{"order":"A-' || n.i || '"}'
    ) as facts, p.merchant
  from numbered n, params p
)
insert into event_store.events (position, stream, revision, id, type, data, metadata, recorded_at)
select base + 2 * place + outcome::int, 'payout-' || id, outcome::int, md5(i || ' ' || outcome)::uuid,
  case when not outcome then 'payout.reported.v1' when expires then 'payout.expired.v1' else 'payout.received.v2' end,
  case
    when not outcome then bench.reported(facts, created_at, created_at + interval '100 years')
    when expires then bench.expired(facts, 'The transfer was not found', created_at + interval '1 day')
    else bench.received(facts, 0, 1000 + i, created_at + interval '1 minute', created_at, created_at, 12, array[
      '0x' || md5('block ' || i) || md5('b ' || i), '0x' || left(md5('token') || md5('t'), 40),
      '0x' || left(md5('from') || md5('f'), 40), '0x' || left(md5('to ' || i) || md5('t ' || i), 40),
      ((4 + i % 997) * 250000)::text, md5('receipt ' || i) || md5('r ' || i)])
  end,
  '{"merchant_id":"' || merchant || '"}',
  created_at
from facts order by place, outcome
`;

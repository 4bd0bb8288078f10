/** How many payouts are reported between a report and its outcome. */
const OUTCOME_LAG = 500;

/** As the service writes times. */
const iso = (time: string): string =>
  `to_char((${time}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * The events of very many payouts, written by PostgreSQL, and right in every rule that the audit knows: reports, claims
 * of transfers, and outcomes. $1 number of payouts, $2 merchant, $3 user ids, $4 their wallets, $5 payouts of the first
 * user, $6 the last position before.
 * The first user has $5 payouts spread evenly, the second user 10, the others share the rest. One fifth is pending,
 * a tenth expired, the rest received. Pairs of payouts share a creation time, so that only the id distinguishes them.
 */
export const SEED_EVENTS = `
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

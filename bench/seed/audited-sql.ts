/**
 * A log that is right in every rule the audit knows: users with wallets, payouts reported, their claims, and outcomes. Forms
 * of payouts are those of ledger-sql.ts. $1 users, $2 payouts, $3 merchant. One in 20 payouts is pending, one in ten expired.
 */
export const SEED_USERS = `
insert into event_store.events (position, stream, revision, id, type, data, metadata, recorded_at)
select 2 * u + revision + 1, 'user-' || id, revision, md5('user ' || u || ' ' || revision)::uuid,
  case revision when 0 then 'user.created.v1' else 'user.activated.v1' end,
  case revision
    when 0 then '{"user_id":"' || id || '","merchant_id":"' || $2 || '","external_id":null,"phone_number":"sealed","email":null,"created_at":"2026-01-01T00:00:00.000Z"}'
    else '{"user_id":"' || id || '","merchant_id":"' || $2 || '","issuer_wallet_address":"0x' || left(md5('wallet ' || u) || md5('w ' || u), 40)
      || '","activated_at":"2026-01-01T00:01:00.000Z"}'
  end,
  '{"merchant_id":"' || $2 || '"}', '2026-01-01T00:02:00Z'
from (select u, md5('user ' || u)::uuid::text as id from generate_series(0, $1::int - 1) u) users,
  generate_series(0, 1) revision`;

export const SEED_AUDITED = `
with payout as (
  select i, md5('payout ' || i)::uuid::text as id, i % $1::int as u, (4 + i % 997) * 0.25 as amount,
    '0x' || md5('hash ' || i) || md5('h ' || i) as hash, '2026-02-01T00:00:00Z'::timestamptz + i * interval '1 second' as created_at,
    case when i % 20 = 0 then 'pending' when i % 10 = 1 then 'expired' else 'received' end as status
  from generate_series(0, $2::int - 1) i
), known as (
  select *, bench.facts(id, $3, md5('user ' || u)::uuid::text, amount::numeric(12, 2)::text, hash, '{"order":"A-' || i || '"}') as facts
  from payout
), logged as (
  select i, 0 as step, 'payout-' || id as stream, 0 as revision, 'payout.reported.v1' as type,
    bench.reported(facts, created_at, created_at + interval '1 day') as data, created_at as at from known
  union all
  select i + 500, 1, 'transfer-31337_' || hash || '_0', 0, 'claim.taken.v1', '{"owner":"payout-' || id || '"}', created_at
  from known where status = 'received'
  union all
  select i + 500, 2, 'payout-' || id, 1, 'payout.received.v2',
    bench.received(facts, 0, 1000 + i, created_at + interval '1 minute', created_at, created_at, 12, array[
      '0x' || md5('block ' || i) || md5('b ' || i), '0x' || left(md5('token') || md5('t'), 40),
      '0x' || left(md5('from') || md5('f'), 40), '0x' || left(md5('wallet ' || u) || md5('w ' || u), 40),
      (amount * 1000000)::bigint::text, md5('receipt ' || i) || md5('r ' || i)]), created_at from known where status = 'received'
  union all
  select i + 500, 2, 'payout-' || id, 1, 'payout.expired.v1',
    bench.expired(facts, 'The transfer was not found', created_at + interval '1 day'), created_at
  from known where status = 'expired'
)
insert into event_store.events (position, stream, revision, id, type, data, metadata, recorded_at)
select 2 * $1::int + row_number() over (order by i, step, stream), stream, revision, md5(stream || ' ' || revision)::uuid, type, data,
  '{"merchant_id":"' || $3 || '","request_id":"' || md5('request ' || i)::uuid || '"}', at + interval '1 second'
from logged`;

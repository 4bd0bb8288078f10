/**
 * How long a process keeps others from the payouts it took, in seconds: so long a payout rests when the process is
 * killed. A round that takes longer is harmless, because a payout ends once whoever looks at it.
 */
const LEASE_SECONDS = 15;
/** One part in so many of each take is kept for the old ones, so that they are not starved either. */
export const OLD_SHARE = 5;
/** Merchants get equal shares of a take; one that others leave unused is shared out up to so many times its size. */
const SURPLUS = 4;
const LEAST_SHARE = 8;

// The expression of the index verifications_by_turn, word for word.
const LINE = 'case when unanswered > 0 then 2 when old then 1 else 0 end';
const LINES = { fresh: 0, old: 1, silent: 2 } as const;

/**
 * Queries that find the due payouts of one line: the merchants that have any by leaps through the index, then a share
 * of each merchant's longest due, then the first of every merchant before the second of any. However many payouts one
 * merchant has, the others' do not wait behind them. `name`s are those of the common table expressions.
 */
function dueByTurns(name: keyof typeof LINES, limit: string): string {
  const line = `chain_id = $1 and ${LINE} = ${LINES[name]}`;
  return `${name}_turns as (
    (select merchant_id as turn from payouts.verifications where ${line} order by merchant_id limit 1)
    union all
    select (select merchant_id from payouts.verifications where ${line} and merchant_id > last.turn order by merchant_id limit 1)
    from ${name}_turns last where last.turn is not null
  ), ${name}_merchants as (
    select turn from ${name}_turns
    where exists (select from payouts.verifications where ${line} and merchant_id = turn and next_check_at <= now())
  ), ${name}_share as (
    select greatest(${LEAST_SHARE}, ${SURPLUS} * $2::int / greatest(count(*), 1)) as most from ${name}_merchants
  ), ${name} as (
    select payout_id, turn, next_check_at, row_number() over (partition by turn order by next_check_at) as place,
      most
    from ${name}_merchants cross join ${name}_share cross join lateral (
      select payout_id, next_check_at from payouts.verifications
      where ${line} and merchant_id = turn and next_check_at <= now()
      order by next_check_at limit most for update skip locked
    ) due
    order by place, next_check_at limit ${limit}
  )`;
}

const taken = (ctes: string, chosen: string): string => `
  with recursive ${ctes}, chosen as (${chosen})
  update payouts.verifications work set next_check_at = now() + make_interval(secs => ${LEASE_SECONDS})
  from chosen where work.payout_id = chosen.payout_id
  returning work.payout_id, work.user_id, chosen.turn, work.hash, work.amount_minor, work.created_at, work.expires_at,
    work.unanswered, work.closing_finding, work.closing_head, work.closing_at, clock_timestamp() as now,
    chosen.place >= chosen.most as more,
    (select address from payouts.wallets wallet where wallet.user_id = work.user_id) as wallet,
    array(select log_index from payouts.used_transfers used
          where used.chain_id = work.chain_id and used.hash = work.hash and used.payout_id <> work.payout_id) as used`;

/** Takes up to $2 due payouts of the chain $1. */
export const TAKE_BY_TURNS = {
  prompt: taken(
    `${dueByTurns('fresh', `$2::int - $2::int / ${OLD_SHARE}`)},
     ${dueByTurns('old', '$2::int - (select count(*) from fresh)')}`,
    'table fresh union all table old',
  ),
  silent: taken(dueByTurns('silent', '$2::int'), 'table silent'),
} as const;

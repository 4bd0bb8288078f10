import type pg from 'pg';
import type { Verdict } from './verdict.js';

/** Payouts by what their events say. */
export interface Totals {
  readonly reported: number;
  readonly pending: number;
  readonly received: number;
  readonly expired: number;
}

/** Every payout by its events. Written here a second time on purpose: the books are not checked by their own code. */
const TRUTH = `
  with payout_events as (
    select stream, revision, type, data::json as data from event_store.events where stream like 'payout-%'
  ), truth as (
    select (r.data->>'payout_id')::uuid as id, (r.data->>'merchant_id')::uuid as merchant_id,
      (r.data->>'user_id')::uuid as user_id, (r.data->>'amount')::numeric * 1000000 as amount_minor,
      case e.type when 'payout.received.v2' then 1 when 'payout.expired.v1' then 2 else 0 end as status,
      e.data->>'reason' as reason
    from payout_events r
    left join payout_events e on e.stream = r.stream and e.type in ('payout.received.v2', 'payout.expired.v1')
    where r.type = 'payout.reported.v1'
  )`;

export async function totals(pool: pg.Pool): Promise<Totals> {
  const found = await pool.query<Totals>(
    `${TRUTH} select count(*)::int as reported, count(*) filter (where status = 0)::int as pending,
       count(*) filter (where status = 1)::int as received, count(*) filter (where status = 2)::int as expired
     from truth`,
  );
  return found.rows[0]!;
}

/** Checks the events and that the read models agree with them. */
export async function checkBooks(pool: pg.Pool, verdict: Verdict): Promise<void> {
  await verdict.eventually('the read models agree with the events', () => viewsAgree(pool), 60_000);
  await checkEvents(pool, verdict);
  verdict.none(await differingPayouts(pool), 'a payout row differs from its events');
  verdict.none(await differingBalances(pool), 'a balance differs from its payouts');
}

/** Checks the whole of the events: streams without gaps, one life per payout, one payout per transfer. */
async function checkEvents(pool: pg.Pool, verdict: Verdict): Promise<void> {
  const rows = async (sql: string): Promise<unknown[]> => (await pool.query(sql)).rows;
  verdict.none(
    await rows(`select stream from event_store.events group by stream
      having min(revision) <> 0 or max(revision) <> count(*) - 1`),
    'a stream has a gap',
  );
  verdict.none(
    await rows(`select a.position from event_store.events a
      join event_store.events b on a.stream = b.stream and b.revision = a.revision + 1
      where b.position <= a.position`),
    'a later event has an earlier position',
  );
  verdict.none(
    await rows(`select stream, array_agg(type order by revision) as types from event_store.events
      where stream like 'payout-%' group by stream
      having count(*) filter (where type = 'payout.reported.v1' and revision = 0) <> 1
        or count(*) filter (where type = 'payout.reported.v1') <> 1
        or count(*) filter (where type in ('payout.received.v2', 'payout.expired.v1')) > 1
        or count(*) > 2`),
    'a payout was not reported once, or ended more than once',
  );
  verdict.none(
    await rows(`select lower(data::json->>'transaction_hash') as hash, data::json->>'log_index' as log_index, count(*)
      from event_store.events where type = 'payout.received.v2'
      group by data::json->>'chain_id', lower(data::json->>'transaction_hash'), data::json->>'log_index'
      having count(*) > 1`),
    'one transfer confirmed two payouts',
  );
}

/** The read models may lag a little: true once they hold what the events hold. */
export async function viewsAgree(pool: pg.Pool): Promise<boolean> {
  return (await differingPayouts(pool)).length === 0 && (await differingBalances(pool)).length === 0;
}

async function differingPayouts(pool: pg.Pool): Promise<unknown[]> {
  const found = await pool.query(`${TRUTH}
    select coalesce(truth.id, view.id) as id, truth.status as expected, view.status as actual, view.body
    from truth full join payouts.payouts view on view.id = truth.id
    where (truth.merchant_id, truth.user_id, truth.amount_minor, truth.status)
        is distinct from (view.merchant_id, view.user_id, view.amount_minor::numeric, view.status::int)
      or view.body::json->>'id' <> truth.id::text
      or view.body::json->>'status' <> (array['pending', 'received', 'expired'])[truth.status + 1]
      or view.body::json->>'reason' is distinct from truth.reason
    limit 20`);
  return found.rows;
}

async function differingBalances(pool: pg.Pool): Promise<unknown[]> {
  const found = await pool.query(`${TRUTH}, sums as (
      select user_id, coalesce(sum(amount_minor) filter (where status = 1), 0) as confirmed,
        coalesce(sum(amount_minor) filter (where status = 0), 0) as pending
      from truth group by user_id
    )
    select coalesce(sums.user_id, balance.user_id) as user_id, sums.confirmed as expected, balance.confirmed as actual,
      sums.pending as expected_pending, balance.pending as actual_pending
    from sums full join payouts.balances balance on balance.user_id = sums.user_id
    where (coalesce(sums.confirmed, 0), coalesce(sums.pending, 0))
      is distinct from (balance.confirmed::numeric, balance.pending::numeric)
    limit 20`);
  return found.rows;
}

/** How many events of a type a merchant has; `null` counts all merchants'. */
export async function countEvents(pool: pg.Pool, type: string, merchantId: string | null): Promise<number> {
  const found = await pool.query<{ count: number }>(
    `select count(*)::int as count from event_store.events
     where type = $1 and ($2::text is null or data::json->>'merchant_id' = $2)`,
    [type, merchantId],
  );
  return found.rows[0]!.count;
}

/** The position of the last event. */
export async function headOf(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ head: string }>('select max(position) as head from event_store.events');
  return rows[0]!.head;
}

/** Whether every subscription has passed that position. */
export async function haveReached(pool: pg.Pool, position: string): Promise<boolean> {
  const { rows } = await pool.query(
    'select from event_store.checkpoints where position is null or position::bigint < $1 limit 1',
    [position],
  );
  return rows.length === 0;
}

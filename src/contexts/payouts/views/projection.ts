import type { PoolClient } from 'pg';
import { columnArrays } from '../../../platform/postgres/batches.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import type { SubscriptionDefinition } from '../../../platform/projections/projection.js';
import {
  addChange,
  bodySql,
  noChanges,
  STATUS,
  VIEWED_EVENTS,
  type Changes,
  type PayoutEnd,
  type PayoutRow,
} from './payout-changes.js';
import { PAYOUT_VIEWS } from './audited-payouts.js';
import { fillPayoutViews } from './fill.js';

/** Payouts and balances, always in step: one transaction per batch moves both. */
export const payoutViews: SubscriptionDefinition = {
  name: PAYOUT_VIEWS,
  events: VIEWED_EVENTS,
  // Reads wait for it, reports do not: under load a little more in a batch costs much less.
  gatherMs: 20,
  apply: applyPayoutEvents,
  tables: { schema: 'payouts', names: ['payouts', 'balances'] },
  fill: fillPayoutViews,
};

/** One statement per kind of row, however many events. Totals move only with rows that really moved. */
export async function applyPayoutEvents(
  events: readonly RecordedEvent[],
  tx: PoolClient,
  schema = 'payouts',
): Promise<void> {
  const changes = noChanges();
  for (const event of events) addChange(changes, event);
  await insertUsers(changes.users, tx, schema);
  const inserted = await insertPayouts([...changes.reported.values()], tx, schema);
  const outcomes = [...changes.outcomes.values()];
  if (inserted < changes.reported.size) outcomes.push(...settledRows(changes));
  await settlePayouts(outcomes, tx, schema);
}

async function insertUsers(users: Changes['users'], tx: PoolClient, schema: string): Promise<void> {
  if (users.length === 0) return;
  await tx.query(
    `insert into ${schema}.balances (user_id, merchant_id)
     select * from unnest($1::uuid[], $2::uuid[])
     on conflict (user_id) do nothing`,
    columnArrays(users, 'id', 'merchantId'),
  );
}

async function insertPayouts(rows: readonly PayoutRow[], tx: PoolClient, schema: string): Promise<number> {
  if (rows.length === 0) return 0;
  const result = await tx.query<{ inserted: number }>(
    `with inserted as (
       insert into ${schema}.payouts
         (id, merchant_id, user_id, created_at, transaction_hash, body, status, amount_minor)
       select id, merchant_id, user_id, created_at, transaction_hash, ${bodySql('body_before_time', 'created_at')},
              status, amount_minor
       from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::smallint[],
                   $8::bigint[])
         as row (id, merchant_id, user_id, created_at, transaction_hash, body_before_time, status, amount_minor)
       on conflict (id) do nothing
       returning merchant_id, user_id, status, amount_minor
     ), totals as (
       insert into ${schema}.balances (user_id, merchant_id, confirmed, pending)
       select user_id, merchant_id,
              coalesce(sum(amount_minor) filter (where status = ${STATUS.received}), 0),
              coalesce(sum(amount_minor) filter (where status = ${STATUS.pending}), 0)
       from inserted group by user_id, merchant_id
       on conflict (user_id) do update
       set confirmed = balances.confirmed + excluded.confirmed, pending = balances.pending + excluded.pending
     )
     select count(*)::int as inserted from inserted`,
    [
      ...columnArrays(rows, 'id', 'merchantId', 'userId', 'createdAt', 'transactionHash', 'bodyBeforeTime'),
      rows.map((row) => STATUS[row.status]),
      rows.map((row) => row.amountMinor.toString()),
    ],
  );
  return result.rows[0]?.inserted ?? 0;
}

async function settlePayouts(outcomes: readonly PayoutEnd[], tx: PoolClient, schema: string): Promise<void> {
  if (outcomes.length === 0) return;
  await tx.query(
    `with moved as (
       update ${schema}.payouts payout
       set status = outcome.status,
           body = ${bodySql('outcome.body_before_time', 'payout.created_at')}
       from unnest($1::uuid[], $2::text[], $3::smallint[]) as outcome (id, body_before_time, status)
       where payout.id = outcome.id and payout.status = ${STATUS.pending}
       returning payout.user_id, payout.status, payout.amount_minor
     )
     update ${schema}.balances balance
     set pending = balance.pending - total.settled, confirmed = balance.confirmed + total.received
     from (
       select user_id, sum(amount_minor) as settled,
              coalesce(sum(amount_minor) filter (where status = ${STATUS.received}), 0) as received
       from moved group by user_id
     ) total
     where balance.user_id = total.user_id`,
    [...columnArrays(outcomes, 'id', 'bodyBeforeTime'), outcomes.map((outcome) => STATUS[outcome.status])],
  );
}

/** Outcomes of rows that end within the batch: needed when an earlier delivery left some of them there as pending. */
function settledRows(changes: Changes): PayoutEnd[] {
  return [...changes.reported.values()].flatMap(({ id, status, bodyBeforeTime }) =>
    status === 'pending' ? [] : [{ id, status, bodyBeforeTime }],
  );
}

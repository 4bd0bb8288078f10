import type { PoolClient } from 'pg';
import { columnArrays } from '../../../platform/postgres/batches.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import type { ReadModel } from '../../../platform/projections/projection.js';
import { PAYOUT_EVENTS, PAYOUT_INTENDED } from '../domain/payout-events.js';
import { PAYOUT_VIEWS } from './audited-payouts.js';
import {
  addChange,
  bodySql,
  Changes,
  recordUsers,
  STATUS,
  type PayoutEnd,
  type PayoutRow,
} from './payout-changes.js';

/** The projection of payouts and balances, both in one transaction per batch. */
export const payoutViews: ReadModel = {
  name: PAYOUT_VIEWS,
  events: [
    'user.created.v1',
    'user.deactivation_started.v1',
    'user.deactivated.v1',
    PAYOUT_INTENDED,
    ...PAYOUT_EVENTS,
  ],
  // Larger batches cost less; only reads wait for the projection.
  gatherMs: 20,
  apply: applyPayoutEvents,
  tables: { schema: 'payouts', names: ['payouts', 'balances', 'payout_intents'] },
};

/** Applies events with one statement per kind of row. Totals change only with changed rows. */
export async function applyPayoutEvents(
  events: readonly RecordedEvent[],
  tx: PoolClient,
  schema = 'payouts',
): Promise<void> {
  const changes = new Changes();
  for (const event of events) addChange(changes, event);
  const { reported, outcomes } = changes;
  await recordUsers(changes, tx, schema);
  const rows = [...reported.values()];
  // In a repeated batch some of its payouts may be there, pending.
  if ((await insertPayouts(rows, tx, schema)) === rows.length) for (const { id } of rows) outcomes.delete(id);
  await settlePayouts([...outcomes.values()], tx, schema);
}

/** A character that JSON escapes. Joined texts cost less than quoted ones. */
const SEPARATOR = '\u001e';

async function insertPayouts(rows: readonly PayoutRow[], tx: PoolClient, schema: string): Promise<number> {
  if (rows.length === 0) return 0;
  const result = await tx.query<{ inserted: number }>(
    `with inserted as (
       insert into ${schema}.payouts
         (id, merchant_id, user_id, created_at, transaction_hash, log_index, body, status, amount_minor)
       select id, merchant_id, user_id, created_at, transaction_hash, log_index,
              ${bodySql('body_before_time', 'created_at')}, status, amount_minor
       from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::integer[], $7::smallint[],
                   $8::bigint[], string_to_array($9, '${SEPARATOR}'))
         as row (id, merchant_id, user_id, created_at, transaction_hash, log_index, status, amount_minor,
                 body_before_time)
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
     ), no_longer_intended as (
       delete from ${schema}.payout_intents where payout_id = any($1::uuid[])
     )
     select count(*)::int as inserted from inserted`,
    [
      ...columnArrays(rows, 'id', 'merchantId', 'userId', 'createdAt', 'transactionHash', 'logIndex'),
      ...columnArrays(rows, 'status', 'amountMinor'),
      rows.map(({ bodyBeforeTime }) => bodyBeforeTime).join(SEPARATOR),
    ],
  );
  return result.rows[0]?.inserted ?? 0;
}

async function settlePayouts(outcomes: readonly PayoutEnd[], tx: PoolClient, schema: string): Promise<void> {
  if (outcomes.length === 0) return;
  await tx.query(
    `with moved as (
       update ${schema}.payouts payout
       set status = outcome.status, log_index = outcome.log_index,
           body = ${bodySql('outcome.body_before_time', 'payout.created_at')}
       from unnest($1::uuid[], $2::text[], $3::smallint[], $4::integer[])
         as outcome (id, body_before_time, status, log_index)
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
    columnArrays(outcomes, 'id', 'bodyBeforeTime', 'status', 'logIndex'),
  );
}

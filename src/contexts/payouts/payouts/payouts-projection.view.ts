import { payoutJsonBeforeTime } from './payout.js';
import type { PoolClient } from 'pg';
import type { DomainEvent } from '../../../kernel/aggregate.js';
import { toMinorUnits } from '../../../kernel/money.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import type { CheckedTables } from '../../../platform/context.js';
import { columnArrays, everyRow } from '../../../platform/postgres/batches.js';
import { subscriptionName, type ReadModel } from '../../../platform/projections/projection.js';
import type { UserCreated, UserDeactivated, UserDeactivationStarted } from '../../users/users.contract.js';
import {
  comparableHash,
  PAYOUT_EVENTS,
  PAYOUT_EXPIRED,
  PAYOUT_INTENDED,
  PAYOUT_RECEIVED,
  PAYOUT_REPORTED,
  type PayoutEvent,
  STATUS,
  type PayoutIntent,
} from './payout-events.js';

/** The projection of payouts and balances. Requests wait for it, so that they read their own writes. */
export const PAYOUT_VIEWS = subscriptionName('payouts.views');

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

/** Applies events with one statement per kind of row. A repeated event changes no row or total. */
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
  // A repeated batch may have stored its payouts already, as pending.
  if ((await insertPayouts(rows, tx, schema)) === rows.length) for (const { id } of rows) outcomes.delete(id);
  await settlePayouts([...outcomes.values()], tx, schema);
}

/** A separator that JSON always escapes. A joined text costs less than an array of quoted texts. */
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

type ViewedEvent =
  | PayoutEvent
  | DomainEvent<typeof PAYOUT_INTENDED, PayoutIntent>
  | UserCreated
  | UserDeactivationStarted
  | UserDeactivated;

interface PayoutRow {
  readonly id: string;
  readonly merchantId: string;
  readonly userId: string;
  readonly createdAt: string;
  readonly transactionHash: string;
  readonly amountMinor: string;
  status: number;
  /** The place of the transfer among the logs of the transaction; null unless the payout is received. */
  logIndex: number | null;
  /** The JSON of the payout, up to `created_at`. */
  bodyBeforeTime: string;
}

type PayoutEnd = Pick<PayoutRow, 'id' | 'status' | 'logIndex' | 'bodyBeforeTime'>;

/** The changes of a batch of events. A payout that is reported and ended in the batch is one row. */
class Changes {
  /** The merchant of each user. */
  readonly users = new Map<string, string>();
  readonly deactivating = new Map<string, boolean>();
  /** The user of each announced payout. */
  readonly intents = new Map<string, string>();
  readonly reported = new Map<string, PayoutRow>();
  /** The first outcome of each payout, even if the payout is in `reported`. */
  readonly outcomes = new Map<string, PayoutEnd>();
}

function addChange(changes: Changes, recorded: RecordedEvent): void {
  const { users, deactivating, intents, reported } = changes;
  const { type, data } = recorded as RecordedEvent & ViewedEvent;
  switch (type) {
    case 'user.created.v1':
      users.set(data.user_id, data.merchant_id);
      break;
    case 'user.deactivation_started.v1':
    case 'user.deactivated.v1':
      deactivating.set(data.user_id, type === 'user.deactivation_started.v1');
      break;
    case PAYOUT_INTENDED:
      intents.set(data.payout_id, data.user_id);
      break;
    case PAYOUT_REPORTED:
      intents.delete(data.payout_id);
      if (reported.has(data.payout_id)) break;
      reported.set(data.payout_id, {
        id: data.payout_id,
        merchantId: data.merchant_id,
        userId: data.user_id,
        createdAt: data.created_at,
        transactionHash: comparableHash(data.transaction_hash),
        amountMinor: toMinorUnits(data.amount).toString(),
        status: STATUS.pending,
        logIndex: null,
        bodyBeforeTime: payoutJsonBeforeTime(data, 'pending', null),
      });
      break;
    case PAYOUT_RECEIVED:
      end(changes, data.payout_id, {
        status: STATUS.received,
        logIndex: data.log_index,
        bodyBeforeTime: payoutJsonBeforeTime(data, 'received', null),
      });
      break;
    case PAYOUT_EXPIRED:
      end(changes, data.payout_id, {
        status: STATUS.expired,
        logIndex: null,
        bodyBeforeTime: payoutJsonBeforeTime(data, 'expired', data.reason),
      });
  }
}

function end({ reported, outcomes }: Changes, id: string, outcome: Omit<PayoutEnd, 'id'>): void {
  if (outcomes.has(id)) return;
  outcomes.set(id, { id, ...outcome });
  Object.assign(reported.get(id) ?? {}, outcome);
}

/** Stores users and intents. Deletes the intents of deactivated users, who receive no payouts. */
async function recordUsers(
  { users, deactivating, intents }: Changes,
  tx: PoolClient,
  schema: string,
): Promise<void> {
  if (users.size > 0)
    await tx.query(
      `insert into ${schema}.balances (user_id, merchant_id)
       select * from unnest($1::uuid[], $2::uuid[]) on conflict (user_id) do nothing`,
      [[...users.keys()], [...users.values()]],
    );
  if (intents.size > 0)
    await tx.query(
      `insert into ${schema}.payout_intents (payout_id, user_id)
       select * from unnest($1::uuid[], $2::uuid[]) on conflict do nothing`,
      [[...intents.keys()], [...intents.values()]],
    );
  if (deactivating.size > 0)
    await tx.query(
      `with changed as (
         select * from unnest($1::uuid[], $2::boolean[]) as each (user_id, deactivating)
       ), ended as (
         delete from ${schema}.payout_intents intent using changed
         where intent.user_id = changed.user_id and not changed.deactivating
       )
       update ${schema}.balances balance set deactivating = changed.deactivating
       from changed where balance.user_id = changed.user_id`,
      [[...deactivating.keys()], [...deactivating.values()]],
    );
}

function bodySql(bodyBeforeTime: string, createdAt: string): string {
  const time = `to_char(${createdAt} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  return `${bodyBeforeTime} || ',"created_at":"' || ${time} || '"}'`;
}

interface BalanceRow {
  readonly user_id: string;
  readonly merchant_id: string;
  readonly confirmed: string;
  readonly pending: string;
}

export function readBalances(query: CheckedTables['query'], read: (row: BalanceRow) => void): Promise<void> {
  return everyRow<BalanceRow>(
    query,
    `select user_id, merchant_id, confirmed, pending from payouts.balances
     where $1::uuid is null or user_id > $1 order by user_id limit $2`,
    ({ user_id: id }) => id,
    read,
  );
}

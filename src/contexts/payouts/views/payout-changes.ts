import type { PoolClient } from 'pg';
import type { DomainEvent } from '../../../kernel/aggregate.js';
import { toMinorUnits } from '../../../kernel/money.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import type { UserCreated, UserDeactivated, UserDeactivationStarted } from '../../users/contract.js';
import {
  comparableHash,
  PAYOUT_EXPIRED,
  PAYOUT_INTENDED,
  PAYOUT_RECEIVED,
  PAYOUT_REPORTED,
  type PayoutEvent,
  type PayoutIntent,
} from '../domain/payout-events.js';
import { payoutJsonBeforeTime } from '../domain/payout.js';

/** The values of `payouts.payouts.status`, by the status of the API. */
export const STATUS = { pending: 0, received: 1, expired: 2 } as const;
export type Status = keyof typeof STATUS;

type ViewedEvent =
  | PayoutEvent
  | DomainEvent<typeof PAYOUT_INTENDED, PayoutIntent>
  | UserCreated
  | UserDeactivationStarted
  | UserDeactivated;

export interface PayoutRow {
  readonly id: string;
  readonly merchantId: string;
  readonly userId: string;
  readonly createdAt: string;
  readonly transactionHash: string;
  readonly amountMinor: string;
  status: number;
  /** The place of the transfer among the logs of the transaction; null unless the payout is received. */
  logIndex: number | null;
  /** The JSON up to `created_at`. */
  bodyBeforeTime: string;
}

export type PayoutEnd = Pick<PayoutRow, 'id' | 'status' | 'logIndex' | 'bodyBeforeTime'>;

/** The changes of a batch of events. A payout that is reported and ended within it is one row. */
export class Changes {
  /** Merchants by user. */
  readonly users = new Map<string, string>();
  readonly deactivating = new Map<string, boolean>();
  /** Users by payout. */
  readonly intents = new Map<string, string>();
  readonly reported = new Map<string, PayoutRow>();
  /** The first outcomes, also of payouts in `reported`. */
  readonly outcomes = new Map<string, PayoutEnd>();
}

export function addChange(changes: Changes, recorded: RecordedEvent): void {
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

/** Stores users and intents. A deactivated user gets no payouts, so that its intents are deleted. */
export async function recordUsers(
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

/** Returns the SQL of a payout's JSON, from the text up to `created_at` and that time. */
export function bodySql(bodyBeforeTime: string, createdAt: string): string {
  const time = `to_char(${createdAt} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  return `${bodyBeforeTime} || ',"created_at":"' || ${time} || '"}'`;
}

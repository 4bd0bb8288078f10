import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { toMinorUnits } from '../../../kernel/money.js';
import type { UserCreated } from '../../users/contract.js';
import {
  comparableHash,
  PAYOUT_EXPIRED,
  PAYOUT_RECEIVED,
  PAYOUT_REPORTED,
  type PayoutEvent,
  type PayoutExpired,
  type PayoutReceived,
  type PayoutReported,
} from '../domain/payout-events.js';
import { payoutJsonBeforeTime } from '../domain/payout-json.js';

export const VIEWED_EVENTS = ['user.created.v1', PAYOUT_REPORTED, PAYOUT_RECEIVED, PAYOUT_EXPIRED] as const;

/** Of `payouts.payouts.status`, by the words of the API. */
export const STATUS = { pending: 0, received: 1, expired: 2 } as const;
export type Status = keyof typeof STATUS;

export interface PayoutRow {
  readonly id: string;
  readonly merchantId: string;
  readonly userId: string;
  status: Status;
  readonly createdAt: string;
  readonly amountMinor: bigint;
  /** In the form in which hashes are compared. */
  readonly transactionHash: string;
  /** The JSON up to `created_at`. */
  bodyBeforeTime: string;
}

/** The end of a payout: the new status, and its JSON up to `created_at`, which is in its row alone. */
export interface PayoutEnd {
  readonly id: string;
  readonly status: Exclude<Status, 'pending'>;
  readonly bodyBeforeTime: string;
}

/** What a run of events changes, payouts that begin and end within it folded to one row. */
export interface Changes {
  readonly users: { readonly id: string; readonly merchantId: string }[];
  readonly reported: Map<string, PayoutRow>;
  /** First outcomes of payouts whose row is not in `reported`. */
  readonly outcomes: Map<string, PayoutEnd>;
}

export function noChanges(): Changes {
  return { users: [], reported: new Map(), outcomes: new Map() };
}

export function addChange(changes: Changes, recorded: RecordedEvent): void {
  const event = recorded as RecordedEvent & (PayoutEvent | UserCreated);
  switch (event.type) {
    case 'user.created.v1':
      changes.users.push({ id: event.data.user_id, merchantId: event.data.merchant_id });
      return;
    case 'payout.reported.v1':
      if (!changes.reported.has(event.data.payout_id))
        changes.reported.set(event.data.payout_id, rowOf(event.data));
      return;
    case 'payout.received.v2':
    case 'payout.expired.v1':
      settle(changes, event);
  }
}

function rowOf(data: PayoutReported['data']): PayoutRow {
  return {
    id: data.payout_id,
    merchantId: data.merchant_id,
    userId: data.user_id,
    status: 'pending',
    createdAt: data.created_at,
    amountMinor: toMinorUnits(data.amount),
    transactionHash: comparableHash(data.transaction_hash),
    bodyBeforeTime: payoutJsonBeforeTime(data, 'pending', null),
  };
}

function settle(changes: Changes, event: PayoutReceived | PayoutExpired): void {
  const id = event.data.payout_id;
  const status = event.type === PAYOUT_RECEIVED ? 'received' : 'expired';
  const bodyBeforeTime = payoutJsonBeforeTime(
    event.data,
    status,
    event.type === PAYOUT_EXPIRED ? event.data.reason : null,
  );
  const row = changes.reported.get(id);
  if (row === undefined) {
    if (!changes.outcomes.has(id)) changes.outcomes.set(id, { id, status, bodyBeforeTime });
  } else if (row.status === 'pending') {
    row.status = status;
    row.bodyBeforeTime = bodyBeforeTime;
  }
}

/** SQL: the JSON of a payout, from its text up to `created_at` and that time. */
export function bodySql(bodyBeforeTime: string, createdAt: string): string {
  const time = `to_char(${createdAt} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  return `${bodyBeforeTime} || ',"created_at":"' || ${time} || '"}'`;
}

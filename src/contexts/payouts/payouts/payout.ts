import type { Aggregate } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { canonicalAmount, isAmount, toMinorUnits } from '../../../kernel/money.js';
import { requireIdempotent } from '../../../kernel/idempotency.js';
import type { Payee } from '../../users/users.contract.js';
import {
  PAYOUT_CATEGORY,
  type PayoutEvent,
  type PayoutFacts,
  type PayoutReceived,
  type PayoutReported,
  type TransferSighting,
} from './payout-events.js';

/** The state of a payout from its report to its only outcome (contract.md 9.8). */
export type PayoutState =
  | { readonly status: 'unreported' }
  | (Reported & { readonly status: 'pending' })
  | (Reported & { readonly status: 'received'; readonly received: PayoutReceived['data'] })
  | (Reported & { readonly status: 'expired'; readonly reason: string });

interface Reported {
  readonly reported: PayoutReported['data'];
}

export const payout: Aggregate<PayoutState, PayoutEvent> = {
  category: PAYOUT_CATEGORY,
  initial: { status: 'unreported' },
  evolve(state, event) {
    switch (event.type) {
      case 'payout.reported.v1':
        return { status: 'pending', reported: event.data };
      case 'payout.received.v2':
        return state.status === 'pending' ? { ...state, status: 'received', received: event.data } : state;
      case 'payout.expired.v1':
        return state.status === 'pending'
          ? { ...state, status: 'expired', reason: event.data.reason }
          : state;
      default:
        event satisfies never;
        return state;
    }
  },
};

/** The largest amount of a payout, in USDC (contract.md 9.3). */
export const MAX_PAYOUT_AMOUNT = '10000';
const MAX_MINOR = toMinorUnits(MAX_PAYOUT_AMOUNT);

export function readPayoutAmount(value: unknown): string | Fault {
  if (!isAmount(value)) return new Fault('must be a decimal string with at most 6 decimals');
  const minor = toMinorUnits(value);
  if (minor <= 0n) return new Fault('must be greater than 0');
  if (minor > MAX_MINOR) return new Fault(`must be at most ${MAX_PAYOUT_AMOUNT}`);
  return canonicalAmount(value);
}

/**
 * Reports a transfer, even if `payee` is in onboarding, because the money has moved. A repeat has no effect.
 * A different report with this id throws `validation_failed`, or IdempotencyKeyExpired after 29 days.
 */
export function report(
  data: PayoutReported['data'],
  payee: { readonly accountState: Payee['accountState']; readonly merchantId?: string },
  state: PayoutState,
): PayoutEvent[] {
  if (state.status !== 'unreported') {
    if (REPORTED.every((name) => state.reported[name] === data[name])) return [];
    requireIdempotent(state.reported.created_at, data.created_at);
    const detail = 'The Idempotency-Key was used for another payout';
    throw new DomainError('validation_failed', detail).asTransient();
  }
  if (payee.accountState === 'unknown' || payee.merchantId !== data.merchant_id) {
    throw DomainError.notFound('User');
  }
  if (payee.accountState === 'deactivating' || payee.accountState === 'deactivated') {
    throw new DomainError(
      'invalid_transition',
      `The user is ${payee.accountState} and cannot receive payouts`,
    );
  }
  return [{ type: 'payout.reported.v1', data }];
}

export function receive(
  { evidence, at }: { readonly evidence: TransferSighting; readonly at: string },
  state: PayoutState,
): PayoutEvent[] {
  if (state.status !== 'pending') return [];
  const { created_at, expires_at: _, ...facts } = state.reported;
  const { log_index, block_number, ...seen } = evidence;
  const times = { received_at: at, created_at };
  return [{ type: 'payout.received.v2', data: { ...facts, log_index, block_number, ...times, ...seen } }];
}

/** Expires a pending payout when its window is over, or at any time if `early`. */
export function expire(
  { reason, at, early }: { readonly reason: string; readonly at: string; readonly early?: true | undefined },
  state: PayoutState,
): PayoutEvent[] {
  if (state.status !== 'pending') return [];
  const { created_at: _, expires_at, ...facts } = state.reported;
  if (early !== true && Date.parse(at) < Date.parse(expires_at)) return [];
  const data = { ...facts, reason, expired_at: at, ...(early && { early }) };
  return [{ type: 'payout.expired.v1', data }];
}

export type Report = Pick<PayoutFacts, (typeof REPORTED)[number]>;
const REPORTED = ['merchant_id', 'user_id', 'amount', 'transaction_hash', 'custom_metadata'] as const;

/** Returns the JSON of the payout as pending, also for a repeat of the report after the outcome. */
export function responseTo(state: PayoutState): string {
  if (state.status === 'unreported') throw new Error('the payout is unreported and has no response');
  const json = payoutJsonBeforeTime(state.reported, 'pending', null);
  return `{"payout":${json},"created_at":"${state.reported.created_at}"}}`;
}

/** Returns the JSON of a payout (contract.md 9) up to `created_at`, which an expiry event lacks. */
export function payoutJsonBeforeTime(
  facts: PayoutFacts,
  status: Exclude<PayoutState['status'], 'unreported'>,
  reason: string | null,
): string {
  return (
    `{"id":"${facts.payout_id}","user_id":"${facts.user_id}","amount":"${facts.amount}",` +
    `"currency_code":"${facts.currency_code}","status":"${status}",` +
    `"transaction_hash":${JSON.stringify(facts.transaction_hash)},"reason":${JSON.stringify(reason)},` +
    `"custom_metadata":${facts.custom_metadata}`
  );
}

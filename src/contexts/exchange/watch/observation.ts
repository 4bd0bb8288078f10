import { DAY_MS } from '../../../kernel/clock.js';
import { exchanged, isAtLeast, isZero, least, minus, sum, times } from '../../../kernel/decimal.js';
import {
  allDeposits,
  amountReceived,
  findEnd,
  isAfter,
  isOpen,
  order,
  withPublishedState,
  type ExistingOrder,
  type OrderState,
} from '../orders/order.js';
import type { LaterOrderEvent, DepositFacts, OrderEvent } from '../orders/order-events.js';

/** A transfer to the deposit address in a final block. */
export interface ProviderDeposit extends DepositFacts {
  /** The key of a claim, so that a transfer which is listed for several orders counts for one only. */
  readonly claim?: string;
}

/** The status of an order at its provider, read at the time `at`. */
export interface Observation {
  /** All deposits of the order, in the sequence of the chain. */
  readonly deposits: readonly ProviderDeposit[];
  /** The ids of listed deposits that a reorganisation has removed from the chain. */
  readonly missing?: readonly string[];
  /** True if `deposits` omits a transaction because it is already a deposit of another order. */
  readonly hasForeignDeposit?: boolean;
  /** True while a transfer is in a block that is not final. The order does not expire meanwhile. */
  readonly isDepositPending: boolean;
  /** The time up to which deposits are complete, or null if unknown. An order with a later end stays open. */
  readonly completeUntil: string | null;
  readonly outcome: OrderOutcome | null;
  readonly at: string;
}

export type OrderOutcome =
  | { readonly kind: 'completed'; readonly transactionHash: string; readonly amountTo: string | null }
  | { readonly kind: 'refunded'; readonly transactionHash: string | null }
  | { readonly kind: 'failed'; readonly reason: string };

const FOREIGN_DEPOSIT = { kind: 'failed', reason: 'deposit_of_another_order' } as const;

/**
 * The number of deposits, and of late deposits, that are recorded with any amount. A further deposit must be
 * at least 1/SHARE of the missing amount; a late deposit, of the total of all deposits.
 */
const ONE_BY_ONE = 20;
const SHARE = 10;
/** The number of dust records without a condition. A later record requires a doubled sum or DUST_EVERY_MS. */
const DUST_RECORDS = 100;
const DUST_EVERY_MS = DAY_MS;
/** The maximum confirmation time of a transfer, so that dust cannot keep an order open for ever. */
const MAX_PENDING_MS = DAY_MS;

/** Decides the events of an observation, few even for thousands of transfers. No status reverts (ADR 117). */
export function observe(observation: Observation, state: OrderState): OrderEvent[] {
  if (state.status === 'none') return [];
  const events: OrderEvent[] = [];
  let now: ExistingOrder = state;
  const add = (more: readonly LaterOrderEvent[]): void => {
    for (const decided of more) {
      const event = withPublishedState(decided, now);
      events.push(event);
      now = order.evolve(now, event) as ExistingOrder;
    }
  };
  add(missingDeposits(observation, now));
  const known = new Set(allDeposits(now).map(({ deposit_id }) => deposit_id));
  const dust: DepositFacts[] = [];
  let sums = toSums(now);
  for (const deposit of observation.deposits) {
    if (known.has(deposit.deposit_id) || isZero(deposit.amount)) continue;
    known.add(deposit.deposit_id);
    const recorded = deposited(deposit, observation.at, sums);
    if (recorded.length === 0) {
      dust.push(deposit);
      continue;
    }
    add(recorded);
    sums = toSums(now);
  }
  add(findDust(dust, observation, events.length > 0, now));
  add(toOutcome(observation, now));
  add(endOfTime(observation, now));
  return events;
}

/** Records the deposits in `missing`. Unlisted deposits are not missing: a provider omits some at times. */
function missingDeposits({ missing = [], at }: Observation, state: ExistingOrder): LaterOrderEvent[] {
  const gone = new Set(missing);
  return allDeposits(state)
    .filter(({ deposit_id }) => gone.has(deposit_id))
    .map(({ deposit_id, amount, transaction_hash }) => ({
      type: 'order.deposit_missing.v1',
      data: { order_id: state.order_id, deposit_id, amount, transaction_hash, at },
    }));
}

/** Returns the sums with which deposits are compared. Thousands of small deposits share one computation. */
function toSums(state: ExistingOrder) {
  const received = amountReceived(state);
  return {
    state,
    /** The time until which a deposit counts; null once the order is not open. */
    endMs: isOpen(state) ? Date.parse(findEnd(state)) : null,
    received,
    /** The part of the requested amount that has not arrived. */
    missing: minus(state.amount_from, received),
    whole: sum(allDeposits(state).map(({ amount }) => amount)),
  };
}

/** Returns the events of a deposit, or none for dust. */
function deposited(
  { deposit_id, amount, transaction_hash, deposited_at }: DepositFacts,
  at: string,
  { state, endMs, received, missing, whole }: ReturnType<typeof toSums>,
): LaterOrderEvent[] {
  const { order_id, deposits, late_deposits, amount_from } = state;
  const counts = endMs !== null && Date.parse(deposited_at) <= endMs;
  const worth = counts
    ? isWorthRecording(amount, deposits.length, missing)
    : isWorthRecording(amount, late_deposits.length, whole);
  if (!worth) return [];
  const data = { order_id, deposit_id, amount, transaction_hash, deposited_at, at };
  if (!counts) return [{ type: 'order.late_deposit_recorded.v1', data }];
  const total = sum([received, amount]);
  const started = isAtLeast(total, amount_from) ? [processingStarted(total, at, state)] : [];
  return [{ type: 'order.deposit_received.v1', data }, ...started];
}

/** Returns true for the first and for large deposits (1/SHARE of `whole`). A completing deposit is large. */
function isWorthRecording(amount: string, recorded: number, whole: string): boolean {
  return recorded < ONE_BY_ONE || isAtLeast(times(amount, SHARE), whole);
}

/** Starts the exchange at the order's rate, up to the pair's maximum. The rest is refundable. */
function processingStarted(
  total: string,
  at: string,
  { order_id, amount_from: requested, amount_to: agreed, rate, maximum, decimals_to }: ExistingOrder,
): Extract<LaterOrderEvent, { type: 'order.processing_started.v1' }> {
  const amount_from = least(total, maximum);
  const amount_to = isZero(minus(amount_from, requested))
    ? agreed
    : exchanged(amount_from, rate, decimals_to);
  const data = { order_id, amount_from, amount_to, refundable: minus(total, amount_from), at };
  return { type: 'order.processing_started.v1', data };
}

/** Records a changed sum of dust. `changed` is true if this poll recorded a deposit, perhaps former dust. */
function findDust(
  deposits: readonly DepositFacts[],
  { missing = [], at }: Observation,
  changed: boolean,
  { order_id, dust }: ExistingOrder,
): LaterOrderEvent[] {
  const amount = sum(deposits.map((deposit) => deposit.amount));
  if (amount === dust.amount) return [];
  const isDue =
    dust.at === null ||
    dust.records < DUST_RECORDS ||
    isAtLeast(amount, times(dust.amount, 2)) ||
    Date.parse(at) - Date.parse(dust.at) >= DUST_EVERY_MS;
  const isLess = !isAtLeast(amount, dust.amount);
  // A decrease needs a recorded or missing deposit, because a provider may omit deposits for a while.
  if (isLess ? !changed && !(isDue && missing.length > 0) : !isDue) return [];
  const data = { order_id, count: deposits.length, amount, at };
  return [{ type: 'order.dust_recorded.v1', data }];
}

/** Returns the events of an outcome. Ignores a completion or refund until a deposit is listed. */
function toOutcome(
  { hasForeignDeposit, outcome: seen, at }: Observation,
  state: ExistingOrder,
): LaterOrderEvent[] {
  const outcome = hasForeignDeposit && isOpen(state) ? FOREIGN_DEPOSIT : seen;
  if (outcome === null) return [];
  const { order_id } = state;
  if (!isOpen(state) && state.status !== 'processing') return lateOutcome(outcome, at, state);
  const received = amountReceived(state);
  if (outcome.kind === 'failed')
    return [
      { type: 'order.failed.v1', data: { order_id, reason: outcome.reason, refundable: received, at } },
    ];
  // Lost deposits count too, because they may have moved to another block since the exchange started.
  const counted = sum([received, state.lost]);
  if (isZero(counted)) return [];
  if (outcome.kind === 'refunded') {
    const data = { order_id, amount: counted, refund_transaction_hash: outcome.transactionHash, at };
    return [{ type: 'order.refunded.v1', data }];
  }
  // The provider may exchange less than requested.
  const started = isOpen(state) ? [processingStarted(received, at, state)] : [];
  const { amount_from, amount_to } = started[0]?.data ?? state;
  const paidOut = { amount_from, amount_to: outcome.amountTo ?? amount_to };
  const data = { order_id, ...paidOut, withdraw_transaction_hash: outcome.transactionHash, at };
  return [...started, { type: 'order.completed.v1', data }];
}

/** Records a completion or refund after the order's end, each at most once. */
function lateOutcome(outcome: OrderOutcome, at: string, state: ExistingOrder): LaterOrderEvent[] {
  if (outcome.kind === 'failed' || outcome.kind === state.status) return [];
  if (state.late_outcomes.includes(outcome.kind)) return [];
  const { kind, transactionHash: transaction_hash } = outcome;
  const data = { order_id: state.order_id, outcome: kind, transaction_hash, at };
  return [{ type: 'order.late_outcome_recorded.v1', data }];
}

/** Ends an open order after its time, but only if the provider has listed all deposits up to that time. */
function endOfTime(observation: Observation, state: ExistingOrder): LaterOrderEvent[] {
  const { at, completeUntil, isDepositPending, outcome } = observation;
  if (!isOpen(state) || completeUntil === null) return [];
  const end = findEnd(state);
  if (!isAfter(at, end) || !isAfter(completeUntil, end)) return [];
  const overSinceMs = Date.parse(completeUntil) - Date.parse(end);
  if ((isDepositPending || outcome !== null) && overSinceMs < MAX_PENDING_MS) return [];
  const { order_id } = state;
  const received = amountReceived(state);
  const failed = (reason: string): LaterOrderEvent[] => [
    { type: 'order.failed.v1', data: { order_id, reason, refundable: received, at } },
  ];
  if (!isZero(received)) return failed('deposit_too_low');
  return state.waits_until === null
    ? [{ type: 'order.expired.v1', data: { order_id, at } }]
    : failed('no_deposit');
}

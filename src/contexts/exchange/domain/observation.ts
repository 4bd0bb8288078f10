import { exchanged, isAtLeast, isZero, least, minus, sum, times } from '../../../kernel/decimal.js';
import { amountReceived, endOf, isAfter, isOpen, order, type MadeOrder, type Order } from './order.js';
import type { OrderEvent } from './order-events.js';

/** What the provider tells, with `at` the moment after it was asked. */
export interface Observation {
  /** All of the order, in the order of the chain. */
  readonly deposits: readonly SeenDeposit[];
  /** Ids of deposits that were listed, and are no longer on the chain. */
  readonly missing?: readonly string[];
  /** Of transfers that are not listed one by one. */
  readonly unlisted?: { readonly count: number; readonly amount: string };
  /** The provider lists a deposit besides, whose transaction is a deposit of another order. */
  readonly hasForeignDeposit?: boolean;
  readonly isDepositUnderWay: boolean;
  /** Null when nobody can say: then no order ends for want of a deposit. */
  readonly completeUntil: string | null;
  readonly outcome: SeenOutcome | null;
  readonly at: string;
}

interface SeenDeposit {
  readonly id: string;
  readonly amount: string;
  readonly transactionHash: string;
  /** Of its block, which decides whether it came in time. */
  readonly at: string;
}

const FOREIGN_DEPOSIT = { kind: 'failed', reason: 'deposit_of_another_order' } as const;

type SeenOutcome =
  | { readonly kind: 'completed'; readonly transactionHash: string; readonly amountTo: string | null }
  | { readonly kind: 'refunded'; readonly transactionHash: string | null }
  | { readonly kind: 'failed'; readonly reason: string };

/** So many deposits, and so many late ones, are recorded whatever they bring; after that each has to bring a tenth. */
const ONE_BY_ONE = 20;
const SHARE = 10;
/** So often dust is summed up whenever it changes; then when there is twice as much, or so long after the last time. */
const DUST_RECORDS = 100;
const DUST_EVERY_MS = 24 * 3_600_000;
/** No chain takes longer to confirm a transfer; without a bound, dust would keep an order open for ever. */
const MOST_UNDER_WAY_MS = 24 * 3_600_000;

/**
 * What follows from a look at the provider: deposits counted once, then its outcome, then the end of time. Never goes
 * back, and however much is sent to an order, its events stay few (ADR 117).
 */
export function observe(observation: Observation, state: Order): OrderEvent[] {
  if (state.status === 'none') return [];
  const events: OrderEvent[] = [];
  let now: MadeOrder = state;
  const add = (more: readonly OrderEvent[]): void => {
    events.push(...more);
    for (const event of more) now = order.evolve(now, event) as MadeOrder;
  };
  add(missingDeposits(observation, now));
  const known = new Set([...now.deposits, ...now.lateDeposits].map(({ deposit_id }) => deposit_id));
  const dust: SeenDeposit[] = [];
  let standing = standingOf(now);
  for (const deposit of observation.deposits) {
    if (known.has(deposit.id) || isZero(deposit.amount)) continue;
    known.add(deposit.id);
    const recorded = deposited(deposit, observation.at, standing);
    if (recorded.length === 0) {
      dust.push(deposit);
      continue;
    }
    add(recorded);
    standing = standingOf(now);
  }
  add(dustOf(dust, observation, events.length > 0, now));
  add(outcomeOf(observation, now));
  add(endOfTime(observation, now));
  return events;
}

/** A provider that only forgets a deposit for a while takes nothing back: it has to name the missing ones. */
function missingDeposits({ missing = [], at }: Observation, state: MadeOrder): OrderEvent[] {
  const gone = new Set(missing);
  return [...state.deposits, ...state.lateDeposits]
    .filter(({ deposit_id }) => gone.has(deposit_id))
    .map(({ deposit_id, amount, transaction_hash }) => ({
      type: 'order.deposit_missing.v1',
      data: { order_id: state.facts.order_id, deposit_id, amount, transaction_hash, at },
    }));
}

/** What a deposit is judged by; worked out once for thousands of them. */
interface Standing {
  readonly state: MadeOrder;
  /** Up to then a deposit counts; null: none does any more. */
  readonly endMs: number | null;
  readonly received: string;
  /** Of what was asked. */
  readonly missing: string;
  /** Of what was recorded one by one. */
  readonly whole: string;
}

function standingOf(state: MadeOrder): Standing {
  const received = amountReceived(state);
  return {
    state,
    endMs: isOpen(state) ? Date.parse(endOf(state)) : null,
    received,
    missing: minus(state.facts.amount_from, received),
    whole: sum([received, ...state.lateDeposits.map(({ amount }) => amount)]),
  };
}

/** Nothing for one that is not worth a record. */
function deposited(
  { id, amount, transactionHash, at: depositedAt }: SeenDeposit,
  at: string,
  { state, endMs, received, missing, whole }: Standing,
): OrderEvent[] {
  const { facts, deposits, lateDeposits } = state;
  const counts = endMs !== null && Date.parse(depositedAt) <= endMs;
  const worth = counts
    ? isWorthRecording(amount, deposits.length, missing)
    : isWorthRecording(amount, lateDeposits.length, whole);
  if (!worth) return [];
  const data = {
    order_id: facts.order_id,
    deposit_id: id,
    amount,
    transaction_hash: transactionHash,
    deposited_at: depositedAt,
    at,
  };
  if (!counts) return [{ type: 'order.late_deposit_recorded.v1', data }];
  const total = sum([received, amount]);
  const started = isAtLeast(total, facts.amount_from) ? [processingStarted(total, at, state)] : [];
  return [{ type: 'order.deposit_received.v1', data }, ...started];
}

/** What counts has to bring a share of what is missing, so that what completes an order always does; what is late, of all there is. */
function isWorthRecording(amount: string, recorded: number, whole: string): boolean {
  return recorded < ONE_BY_ONE || isAtLeast(times(amount, SHARE), whole);
}

/** At the order's rate, up to the pair's maximum; the rest is refundable. */
function processingStarted(total: string, at: string, { facts }: MadeOrder): OrderEvent {
  const amountFrom = least(total, facts.maximum);
  const isAsked = isAtLeast(facts.amount_from, amountFrom) && isAtLeast(amountFrom, facts.amount_from);
  return {
    type: 'order.processing_started.v1',
    data: {
      order_id: facts.order_id,
      amount_from: amountFrom,
      amount_to: isAsked ? facts.amount_to : exchanged(amountFrom, facts.rate, facts.decimals_to),
      refundable: minus(total, amountFrom),
      at,
    },
  };
}

/** `changed`: a deposit was recorded just now, which may have been dust before. */
function dustOf(
  deposits: readonly SeenDeposit[],
  { unlisted, at }: Observation,
  changed: boolean,
  { facts, dust }: MadeOrder,
): OrderEvent[] {
  const amount = sum([unlisted?.amount ?? '0', ...deposits.map((deposit) => deposit.amount)]);
  if (amount === dust.amount) return [];
  const isDue =
    dust.at === null ||
    dust.records < DUST_RECORDS ||
    isAtLeast(amount, times(dust.amount, 2)) ||
    Date.parse(at) - Date.parse(dust.at) >= DUST_EVERY_MS;
  const isLess = !isAtLeast(amount, dust.amount);
  // Of less only a provider that sums up is believed: one that lists may forget some of them for a while.
  if (isLess ? !changed && !(isDue && unlisted !== undefined) : !isDue) return [];
  const data = { order_id: facts.order_id, count: (unlisted?.count ?? 0) + deposits.length, amount, at };
  return [{ type: 'order.dust_recorded.v1', data }];
}

/** An outcome of money comes with its deposits: it is not believed before they are listed. */
function outcomeOf({ hasForeignDeposit, outcome: seen, at }: Observation, state: MadeOrder): OrderEvent[] {
  const outcome = hasForeignDeposit && isOpen(state) ? FOREIGN_DEPOSIT : seen;
  if (outcome === null) return [];
  const { order_id } = state.facts;
  if (!isOpen(state) && state.status !== 'processing') return lateOutcome(outcome, at, state);
  const received = amountReceived(state);
  if (outcome.kind === 'failed')
    return [
      { type: 'order.failed.v1', data: { order_id, reason: outcome.reason, refundable: received, at } },
    ];
  // Of an exchange that began the provider had the deposits, although they may have moved to another block since.
  const counted = sum([received, state.lost]);
  if (isZero(counted)) return [];
  if (outcome.kind === 'refunded') {
    const data = { order_id, amount: counted, refund_transaction_hash: outcome.transactionHash, at };
    return [{ type: 'order.refunded.v1', data }];
  }
  // The provider may exchange less than was asked: then that is what happened.
  const started = isOpen(state) ? [processingStarted(received, at, state)] : [];
  const processing = started.reduce((now, event) => order.evolve(now, event), state as Order) as MadeOrder;
  const data = {
    order_id,
    amount_to: outcome.amountTo ?? processing.amountTo,
    withdraw_transaction_hash: outcome.transactionHash,
    at,
  };
  return [...started, { type: 'order.completed.v1', data }];
}

/** Each kind is told once. */
function lateOutcome(outcome: SeenOutcome, at: string, state: MadeOrder): OrderEvent[] {
  if (outcome.kind === 'failed' || outcome.kind === state.status) return [];
  if (state.lateOutcomes.includes(outcome.kind)) return [];
  const { kind, transactionHash: transaction_hash } = outcome;
  const data = { order_id: state.facts.order_id, outcome: kind, transaction_hash, at };
  return [{ type: 'order.late_outcome_recorded.v1', data }];
}

/** An order ends for want of a deposit only when the provider has said all there is up to that end. */
function endOfTime(observation: Observation, state: MadeOrder): OrderEvent[] {
  const { at, completeUntil, isDepositUnderWay, outcome } = observation;
  if (!isOpen(state) || completeUntil === null) return [];
  const end = endOf(state);
  if (!isAfter(at, end) || !isAfter(completeUntil, end)) return [];
  const overSinceMs = Date.parse(completeUntil) - Date.parse(end);
  if ((isDepositUnderWay || outcome !== null) && overSinceMs < MOST_UNDER_WAY_MS) return [];
  const { order_id } = state.facts;
  const received = amountReceived(state);
  const failed = (reason: string): OrderEvent[] => [
    { type: 'order.failed.v1', data: { order_id, reason, refundable: received, at } },
  ];
  if (!isZero(received)) return failed('deposit_too_low');
  return state.waitsUntil === null
    ? [{ type: 'order.expired.v1', data: { order_id, at } }]
    : failed('no_deposit');
}

import type { Aggregate } from '../../../kernel/aggregate.js';
import { isAtLeast, isZero, least, minus, sum } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { requireIdempotent } from '../../../kernel/idempotency.js';
import { plainHash } from './addresses.js';
import {
  PUBLISHED_EVENTS,
  type DecidedEvent,
  type DepositFacts,
  type OrderEvent,
  type OrderFacts,
  type OrderStatus,
} from './order-events.js';

/** An exchange order from its quote to its one outcome (contract.md 22 and 23). */
export type OrderState = { readonly status: 'none' } | ExistingOrder;

export interface ExistingOrder {
  readonly status: OrderStatus;
  readonly facts: OrderFacts;
  readonly updatedAt: string;
  /** Until when an order that was marked as paid waits for its deposit; null unless it was marked. */
  readonly waitsUntil: string | null;
  /** The deposits that count towards the requested amount. */
  readonly deposits: readonly DepositFacts[];
  /** The deposits that came too late; they are never exchanged. */
  readonly lateDeposits: readonly DepositFacts[];
  /** Transfers too small for a record each, never exchanged either. `at` is when their sum was last recorded. */
  readonly dust: {
    readonly count: number;
    readonly amount: string;
    readonly at: string | null;
    /** How often their sum was recorded. */
    readonly records: number;
  };
  /** The amount that is exchanged; before the exchange begins, the requested amount. */
  readonly amountFrom: string;
  readonly amountTo: string;
  /** The part of the counted deposits that is to be refunded. */
  readonly refundable: string;
  /** The amount of exchanged or refunded deposits that are no longer on the chain. */
  readonly lost: string;
  /** The refunds that operators recorded. */
  readonly refunds: readonly Readonly<Record<'amount' | 'transaction_hash' | 'recorded_at', string>>[];
  readonly reason: string | null;
  readonly withdrawTransactionHash: string | null;
  /** The transaction of the provider's own refund. */
  readonly refundTransactionHash: string | null;
  /** The outcomes that the provider reported after the order had ended here. */
  readonly lateOutcomes: readonly string[];
  readonly isErased: boolean;
}

export const order: Aggregate<OrderState, OrderEvent> = {
  category: 'order',
  initial: { status: 'none' },
  evolve(state, event) {
    if (event.type === 'order.created.v1') return created(event.data);
    if (state.status === 'none') return state;
    const next = evolveExisting(state, event);
    return next === state ? state : { ...next, updatedAt: event.data.at };
  },
};

function created(facts: OrderFacts): ExistingOrder {
  return {
    status: 'pending',
    facts,
    updatedAt: facts.created_at,
    waitsUntil: null,
    deposits: [],
    lateDeposits: [],
    dust: { count: 0, amount: '0', at: null, records: 0 },
    amountFrom: facts.amount_from,
    amountTo: facts.amount_to,
    refundable: '0',
    lost: '0',
    refunds: [],
    reason: null,
    withdrawTransactionHash: null,
    refundTransactionHash: null,
    lateOutcomes: [],
    isErased: false,
  };
}

function evolveExisting(state: ExistingOrder, event: DecidedEvent): ExistingOrder {
  switch (event.type) {
    case 'order.marked_as_paid.v1':
      return { ...state, status: 'paid', waitsUntil: event.data.waits_until };
    case 'order.cancelled.v1':
      return { ...state, status: 'cancelled', refundable: event.data.refundable };
    case 'order.expired.v1':
      return { ...state, status: 'expired' };
    case 'order.deposit_received.v1':
      return { ...state, deposits: [...state.deposits, event.data] };
    case 'order.processing_started.v1': {
      const { amount_from: amountFrom, amount_to: amountTo, refundable } = event.data;
      return { ...state, status: 'processing', amountFrom, amountTo, refundable };
    }
    case 'order.completed.v1': {
      const { amount_to: amountTo, withdraw_transaction_hash: withdrawTransactionHash } = event.data;
      return { ...state, status: 'completed', amountTo, withdrawTransactionHash };
    }
    case 'order.failed.v1':
      // The event's refundable amount includes only deposits that are on the chain, so nothing is lost.
      return {
        ...state,
        status: 'failed',
        reason: event.data.reason,
        refundable: event.data.refundable,
        lost: '0',
      };
    case 'order.refunded.v1': {
      const { refund_transaction_hash: refundTransactionHash } = event.data;
      return { ...state, status: 'refunded', refundable: '0', refundTransactionHash };
    }
    case 'order.late_deposit_recorded.v1':
      return { ...state, lateDeposits: [...state.lateDeposits, event.data] };
    case 'order.deposit_missing.v1':
      return withoutDeposit(state, event.data);
    case 'order.dust_recorded.v1': {
      const { count, amount, at } = event.data;
      return { ...state, dust: { count, amount, at, records: state.dust.records + 1 } };
    }
    case 'order.late_outcome_recorded.v1':
      return { ...state, lateOutcomes: [...state.lateOutcomes, event.data.outcome] };
    case 'order.refund_recorded.v1': {
      const { amount, transaction_hash, at: recorded_at } = event.data;
      return { ...state, refunds: [...state.refunds, { amount, transaction_hash, recorded_at }] };
    }
    case 'order.personal_data_erased.v1':
      return { ...state, isErased: true, facts: { ...state.facts, ...NO_PERSON } };
    default:
      event satisfies never;
      return state;
  }
}

/** The personal fields of an erased order. */
const NO_PERSON = { user_id: null, user_hash: null, withdraw_address_tag: null, withdraw_address_memo: null };

function withoutDeposit(
  state: ExistingOrder,
  { deposit_id: id, amount }: { readonly deposit_id: string; readonly amount: string },
): ExistingOrder {
  const others = (deposits: readonly DepositFacts[]): readonly DepositFacts[] =>
    deposits.filter(({ deposit_id }) => deposit_id !== id);
  const lateDeposits = others(state.lateDeposits);
  if (lateDeposits.length < state.lateDeposits.length) return { ...state, lateDeposits };
  const lost = isOpen(state) ? state.lost : sum([state.lost, amount]);
  return { ...state, deposits: others(state.deposits), lost };
}

export function isOpen({ status }: Pick<ExistingOrder, 'status'>): boolean {
  return status === 'pending' || status === 'paid';
}

/** Whether the order has ended: only late deposits are recorded after that (contract.md 23.1). */
export function hasEnded(order: Pick<ExistingOrder, 'status'>): boolean {
  return !isOpen(order) && order.status !== 'processing';
}

/** Until when a deposit counts, ISO 8601. An order that was marked as paid waits longer for its first deposit. */
export function endOf({ facts, waitsUntil, deposits }: ExistingOrder): string {
  if (waitsUntil === null || deposits.length > 0) return facts.expires_at;
  return isAfter(waitsUntil, facts.expires_at) ? waitsUntil : facts.expires_at;
}

/** Compares ISO 8601 times with any number of digits. */
export function isAfter(a: string, b: string): boolean {
  return Date.parse(a) > Date.parse(b);
}

export function amountReceived({ deposits }: ExistingOrder): string {
  return sum(deposits.map(({ amount }) => amount));
}

/** The amount that is never exchanged automatically: late deposits and dust. */
function amountLate({ lateDeposits, dust }: ExistingOrder): string {
  return sum([dust.amount, ...lateDeposits.map(({ amount }) => amount)]);
}

/** The amount still to be refunded: unexchanged and late deposits, less losses and refunds. */
export function amountRefundable(state: ExistingOrder): string {
  const { due, spent } = balance(state);
  // A provider may refund all of what an operator had refunded in part.
  return isAtLeast(spent, due) ? '0' : minus(due, spent);
}

/** The amount that was exchanged or refunded although its deposits are no longer on the chain. */
export function shortfall(state: ExistingOrder): string {
  if (isZero(state.lost)) return '0';
  const { due, spent } = balance(state);
  return isAtLeast(due, spent) ? '0' : least(minus(spent, due), state.lost);
}

function balance(state: ExistingOrder): { readonly due: string; readonly spent: string } {
  return {
    due: sum([state.refundable, amountLate(state)]),
    spent: sum([state.lost, ...state.refunds.map(({ amount }) => amount)]),
  };
}

/** A decided event as it is stored: webhooks are sent for some, which have whose the order is, and what it is after them. */
export function withPublishedState(decided: DecidedEvent, before: ExistingOrder): OrderEvent {
  if (!PUBLISHED_EVENTS.some((type) => type === decided.type)) return decided as OrderEvent;
  const after = evolveExisting(before, decided);
  const published = {
    merchant_id: after.facts.merchant_id,
    key_id: after.facts.key_id,
    status: after.status,
    amount_refundable: amountRefundable(after),
  };
  return { type: decided.type, data: { ...decided.data, ...published } } as OrderEvent;
}

/** Creates an order; a repeat changes nothing. Throws IdempotencyKeyExpired when the order is too old to be repeated. */
export function createOrder(facts: OrderFacts, state: OrderState): OrderEvent[] {
  if (state.status === 'none') return [{ type: 'order.created.v1', data: facts }];
  requireIdempotent(state.facts.created_at, facts.created_at);
  if (state.isErased)
    throw new DomainError(
      'invalid_transition',
      'The personal data of the order with this Idempotency-Key is erased; a new order needs a new key',
    );
  const changed = REQUESTED.find((name) => state.facts[name] !== facts[name]);
  if (changed !== undefined)
    throw new DomainError(
      'validation_failed',
      `The Idempotency-Key was used for another order: ${changed} differs`,
    ).asTransient();
  return [];
}

const REQUESTED = [
  'key_id',
  'pair_id',
  'withdraw_address',
  'withdraw_address_tag',
  'withdraw_address_memo',
  'user_id',
] as const satisfies (keyof OrderFacts)[];

/** Marks a pending order as paid; a repeat changes nothing. It then waits for a deposit until `waitsUntil`. */
export function markAsPaid(
  command: { readonly at: string; readonly waitsUntil: string },
  state: OrderState,
): OrderEvent[] {
  const { status, facts } = existingOrder(state);
  if (status === 'paid') return [];
  const isOver = status === 'pending' && !isAfter(facts.expires_at, command.at);
  if (status !== 'pending' || isOver) throw invalidTransition('marked as paid', isOver ? 'expired' : status);
  const data = { order_id: facts.order_id, waits_until: command.waitsUntil, at: command.at };
  return [{ type: 'order.marked_as_paid.v1', data }];
}

/**
 * Cancels a pending order. Refused while a transfer to the order lacks confirmations, since that would become a late
 * deposit. Deposits that were too small to start the exchange become refundable.
 */
export function cancelOrder(
  command: { readonly at: string; readonly isDepositPending: boolean },
  state: OrderState,
): OrderEvent[] {
  const known = existingOrder(state);
  if (known.status !== 'pending') throw invalidTransition('cancelled', known.status);
  if (command.isDepositPending)
    throw refused('A deposit to the order is in progress: it cannot be cancelled');
  const data = { order_id: known.facts.order_id, refundable: amountReceived(known), at: command.at };
  return [withPublishedState({ type: 'order.cancelled.v1', data }, known)];
}

/** A refund by an operator. */
interface Refund {
  readonly amount: string;
  readonly transactionHash: string;
  readonly actor: string;
  readonly at: string;
}

/** Records a refund of at most the refundable amount. The same transaction again has no effect. */
export function recordRefund(
  { amount: given, transactionHash: transaction_hash, actor, at }: Refund,
  state: OrderState,
): OrderEvent[] {
  const known = existingOrder(state);
  const amount = sum([given]);
  const hash = plainHash(transaction_hash);
  const earlier = known.refunds.find((refund) => plainHash(refund.transaction_hash) === hash);
  if (earlier?.amount === amount) return [];
  if (earlier !== undefined) throw refused(`That transaction refunded ${earlier.amount} already`);
  if (isZero(amount)) throw refused('A refund is of more than 0');
  if (!isAtLeast(amountRefundable(known), amount))
    throw refused(`At most ${amountRefundable(known)} is refundable`);
  const data = { order_id: known.facts.order_id, amount, transaction_hash, actor, at };
  return [withPublishedState({ type: 'order.refund_recorded.v1', data }, known)];
}

export function existingOrder(state: OrderState): ExistingOrder {
  if (state.status === 'none') throw DomainError.notFound('Order');
  return state;
}

function refused(message: string): DomainError {
  return new DomainError('invalid_transition', message);
}

function invalidTransition(what: string, status: string): DomainError {
  return refused(`The order is ${status} and cannot be ${what}`);
}

/** An operator erases who an order was for. Throws `invalid_transition` before the order has ended; a repeat changes nothing. */
export function eraseOrder(
  { actor, at }: { readonly actor: string; readonly at: string },
  state: ExistingOrder,
): OrderEvent[] {
  if (state.isErased) return [];
  if (!hasEnded(state))
    throw refused(`The order is ${state.status}: its personal data can be erased once it has ended`);
  const { order_id, key_id } = state.facts;
  return [{ type: 'order.personal_data_erased.v1', data: { order_id, key_id, actor, at } }];
}

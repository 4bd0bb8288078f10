import type { Aggregate } from '../../../kernel/aggregate.js';
import { isAtLeast, isZero, least, minus, sum } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { requireIdempotent } from '../../../kernel/idempotency.js';
import { plainHash } from './addresses.js';
import {
  PAYER_FIELDS,
  PUBLISHED_EVENTS,
  type LaterOrderEvent,
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
  /** The time until which an order that was marked as paid waits for its deposit; null unless it was marked. */
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
    /** The number of times that their sum was recorded. */
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
    return state.status === 'none' ? state : evolveExisting(state, event);
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

type DataOf<Type extends LaterOrderEvent['type']> = Extract<LaterOrderEvent, { type: Type }>['data'];

/** The change of an existing order by each later event. */
const CHANGES: {
  readonly [Type in LaterOrderEvent['type']]: (
    data: DataOf<Type>,
    state: ExistingOrder,
  ) => Partial<ExistingOrder>;
} = {
  'order.marked_as_paid.v1': ({ waits_until: waitsUntil }) => ({ status: 'paid', waitsUntil }),
  'order.cancelled.v1': ({ refundable }) => ({ status: 'cancelled', refundable }),
  'order.expired.v1': () => ({ status: 'expired' }),
  'order.deposit_received.v1': (data, { deposits }) => ({ deposits: [...deposits, data] }),
  'order.processing_started.v1': ({ amount_from: amountFrom, amount_to: amountTo, refundable }) => {
    return { status: 'processing', amountFrom, amountTo, refundable };
  },
  'order.completed.v1': ({ amount_to: amountTo, withdraw_transaction_hash: withdrawTransactionHash }) => {
    return { status: 'completed', amountTo, withdrawTransactionHash };
  },
  // The event's refundable amount includes only deposits that are on the chain, so nothing is lost.
  'order.failed.v1': ({ reason, refundable }) => ({ status: 'failed', reason, refundable, lost: '0' }),
  'order.refunded.v1': ({ refund_transaction_hash: refundTransactionHash }) => {
    return { status: 'refunded', refundable: '0', refundTransactionHash };
  },
  'order.late_deposit_recorded.v1': (data, { lateDeposits }) => ({ lateDeposits: [...lateDeposits, data] }),
  'order.deposit_missing.v1': withoutDeposit,
  'order.dust_recorded.v1': ({ count, amount, at }, { dust }) => ({
    dust: { count, amount, at, records: dust.records + 1 },
  }),
  'order.late_outcome_recorded.v1': ({ outcome }, state) => ({
    lateOutcomes: [...state.lateOutcomes, outcome],
  }),
  'order.refund_recorded.v1': ({ amount, transaction_hash, at: recorded_at }, { refunds }) => ({
    refunds: [...refunds, { amount, transaction_hash, recorded_at }],
  }),
  'order.personal_data_erased.v1': (_, { facts }) => ({
    isErased: true,
    facts: { ...facts, ...NO_PERSON, user_hash: null },
  }),
};

/** Stored names of all events of orders. */
export const ORDER_EVENTS: readonly string[] = ['order.created.v1', ...Object.keys(CHANGES)];

function evolveExisting(state: ExistingOrder, { type, data }: LaterOrderEvent): ExistingOrder {
  if (!Object.hasOwn(CHANGES, type)) return state;
  const change = CHANGES[type] as (data: object, state: ExistingOrder) => Partial<ExistingOrder>;
  return { ...state, ...change(data, state), updatedAt: data.at };
}

/** The personal fields of an erased order, and of one for those who may not read them. */
export const NO_PERSON = { withdraw_address_tag: null, withdraw_address_memo: null, user_id: null } as const;

function withoutDeposit(
  { deposit_id: id, amount }: DataOf<'order.deposit_missing.v1'>,
  state: ExistingOrder,
): Partial<ExistingOrder> {
  const others = (deposits: readonly DepositFacts[]): readonly DepositFacts[] =>
    deposits.filter(({ deposit_id }) => deposit_id !== id);
  const lateDeposits = others(state.lateDeposits);
  if (lateDeposits.length < state.lateDeposits.length) return { lateDeposits };
  const lost = isOpen(state) ? state.lost : sum([state.lost, amount]);
  return { deposits: others(state.deposits), lost };
}

export function isOpen({ status }: Pick<ExistingOrder, 'status'>): boolean {
  return status === 'pending' || status === 'paid';
}

/** Checks that the order has ended: only late deposits are recorded after that (contract.md 23.1). */
export function hasEnded(order: Pick<ExistingOrder, 'status'>): boolean {
  return !isOpen(order) && order.status !== 'processing';
}

/**
 * Returns the time until which a deposit counts, ISO 8601. An order that was marked as paid waits longer for its first
 * deposit.
 */
export function findEnd({ facts, waitsUntil, deposits }: ExistingOrder): string {
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

/** Late deposits and dust are due as well: they are never exchanged automatically. */
function balance({ refundable, dust, lateDeposits, lost, refunds }: ExistingOrder) {
  const amounts = (all: readonly { readonly amount: string }[]) => all.map(({ amount }) => amount);
  return {
    due: sum([refundable, ...amounts([dust, ...lateDeposits])]),
    spent: sum([lost, ...amounts(refunds)]),
  };
}

/** A decided event as it is stored: webhooks are sent for some, which have whose the order is, and what it is after them. */
export function withPublishedState(decided: LaterOrderEvent, before: ExistingOrder): OrderEvent {
  if (!PUBLISHED_EVENTS.some((type) => type === decided.type)) return decided as OrderEvent;
  const after = evolveExisting(before, decided);
  const { merchant_id, key_id } = after.facts;
  const published = { merchant_id, key_id, status: after.status, amount_refundable: amountRefundable(after) };
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

const REQUESTED = ['key_id', 'pair_id', ...PAYER_FIELDS] as const satisfies (keyof OrderFacts)[];

/** Marks a pending order as paid; a repeat changes nothing. It then waits for a deposit until `waitsUntil`. */
export function markAsPaid(
  command: { readonly at: string; readonly waitsUntil: string },
  state: OrderState,
): OrderEvent[] {
  const { status, facts } = existingOrder(state);
  if (status === 'paid') return [];
  const isOver = status === 'pending' && !isAfter(facts.expires_at, command.at);
  if (status !== 'pending' || isOver)
    throw refused(`The order is ${isOver ? 'expired' : status} and cannot be marked as paid`);
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
  if (known.status !== 'pending') throw refused(`The order is ${known.status} and cannot be cancelled`);
  if (command.isDepositPending)
    throw refused('A deposit to the order is in progress: it cannot be cancelled');
  const data = { order_id: known.facts.order_id, refundable: amountReceived(known), at: command.at };
  return [withPublishedState({ type: 'order.cancelled.v1', data }, known)];
}

/** Records a refund by an operator, of at most the refundable amount. The same transaction again has no effect. */
export function recordRefund(
  command: Readonly<Record<'amount' | 'transactionHash' | 'actor' | 'at', string>>,
  state: OrderState,
): OrderEvent[] {
  const known = existingOrder(state);
  const { transactionHash: transaction_hash, actor, at } = command;
  const amount = sum([command.amount]);
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

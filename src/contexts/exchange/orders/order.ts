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

/** An exchange order from its quote to its outcome (contract.md 22 and 23). */
export type OrderState = { readonly status: 'none' } | ExistingOrder;

/** The terms of an order and the changes since its creation, named as in its events. */
export interface ExistingOrder extends OrderFacts {
  readonly status: OrderStatus;
  readonly updated_at: string;
  /** The time until which an order that was marked as paid waits for its deposit; null for other orders. */
  readonly waits_until: string | null;
  /** The deposits that count towards the requested amount. */
  readonly deposits: readonly DepositFacts[];
  readonly late_deposits: readonly DepositFacts[];
  /** The transfers too small for individual records. Their sum was last recorded at `at`. */
  readonly dust: {
    readonly count: number;
    readonly amount: string;
    readonly at: string | null;
    readonly records: number;
  };
  /** The part of the counted deposits that is to be refunded. */
  readonly refundable: string;
  /** The amount of exchanged or refunded deposits that are no longer on the chain. */
  readonly lost: string;
  readonly refunds: readonly Readonly<Record<'amount' | 'transaction_hash' | 'recorded_at', string>>[];
  readonly reason: string | null;
  readonly withdraw_transaction_hash: string | null;
  /** The transaction of the provider's own refund. */
  readonly refund_transaction_hash: string | null;
  /** The outcomes that the provider reported after the order had ended here. */
  readonly late_outcomes: readonly string[];
  readonly is_erased: boolean;
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
    ...facts,
    status: 'pending',
    updated_at: facts.created_at,
    waits_until: null,
    deposits: [],
    late_deposits: [],
    dust: { count: 0, amount: '0', at: null, records: 0 },
    refundable: '0',
    lost: '0',
    refunds: [],
    reason: null,
    withdraw_transaction_hash: null,
    refund_transaction_hash: null,
    late_outcomes: [],
    is_erased: false,
  };
}

type DataOf<Type extends LaterOrderEvent['type']> = Extract<LaterOrderEvent, { type: Type }>['data'];

const CHANGES: {
  readonly [Type in LaterOrderEvent['type']]: (
    data: DataOf<Type>,
    state: ExistingOrder,
  ) => Partial<ExistingOrder>;
} = {
  'order.marked_as_paid.v1': ({ waits_until }) => ({ status: 'paid', waits_until }),
  'order.cancelled.v1': ({ refundable }) => ({ status: 'cancelled', refundable }),
  'order.expired.v1': () => ({ status: 'expired' }),
  'order.deposit_received.v1': (data, { deposits }) => ({ deposits: [...deposits, data] }),
  'order.processing_started.v1': ({ amount_from, amount_to, refundable }) => {
    return { status: 'processing', amount_from, amount_to, refundable };
  },
  'order.completed.v1': ({ amount_to, withdraw_transaction_hash }) => {
    return { status: 'completed', amount_to, withdraw_transaction_hash };
  },
  // The event's refundable amount includes only deposits that are on the chain, so nothing is lost.
  'order.failed.v1': ({ reason, refundable }) => ({ status: 'failed', reason, refundable, lost: '0' }),
  'order.refunded.v1': ({ refund_transaction_hash }) => {
    return { status: 'refunded', refundable: '0', refund_transaction_hash };
  },
  'order.late_deposit_recorded.v1': (data, { late_deposits }) => ({
    late_deposits: [...late_deposits, data],
  }),
  'order.deposit_missing.v1': withoutDeposit,
  'order.dust_recorded.v1': ({ count, amount, at }, { dust }) => ({
    dust: { count, amount, at, records: dust.records + 1 },
  }),
  'order.late_outcome_recorded.v1': ({ outcome }, { late_outcomes }) => ({
    late_outcomes: [...late_outcomes, outcome],
  }),
  'order.refund_recorded.v1': ({ amount, transaction_hash, at: recorded_at }, { refunds }) => ({
    refunds: [...refunds, { amount, transaction_hash, recorded_at }],
  }),
  'order.personal_data_erased.v1': () => ({ is_erased: true, ...NO_PERSON, user_hash: null }),
};

export const ORDER_EVENTS: readonly string[] = ['order.created.v1', ...Object.keys(CHANGES)];

function evolveExisting(state: ExistingOrder, { type, data }: LaterOrderEvent): ExistingOrder {
  if (!Object.hasOwn(CHANGES, type)) return state;
  const change = CHANGES[type] as (data: object, state: ExistingOrder) => Partial<ExistingOrder>;
  return { ...state, ...change(data, state), updated_at: data.at };
}

/** The values of personal fields after an erasure, and for readers without access to personal data. */
export const NO_PERSON = { withdraw_address_tag: null, withdraw_address_memo: null, user_id: null } as const;

function withoutDeposit(
  { deposit_id: id, amount }: DataOf<'order.deposit_missing.v1'>,
  state: ExistingOrder,
): Partial<ExistingOrder> {
  const others = (deposits: readonly DepositFacts[]): readonly DepositFacts[] =>
    deposits.filter(({ deposit_id }) => deposit_id !== id);
  const late_deposits = others(state.late_deposits);
  if (late_deposits.length < state.late_deposits.length) return { late_deposits };
  const lost = isOpen(state) ? state.lost : sum([state.lost, amount]);
  return { deposits: others(state.deposits), lost };
}

export function isOpen({ status }: Pick<ExistingOrder, 'status'>): boolean {
  return status === 'pending' || status === 'paid';
}

/** Returns true for an ended order, which records only late deposits (contract.md 23.1). */
export function hasEnded(order: Pick<ExistingOrder, 'status'>): boolean {
  return !isOpen(order) && order.status !== 'processing';
}

/** Returns the end of the wait for deposits. A mark as paid extends it as long as no deposit arrives. */
export function findEnd({ expires_at, waits_until, deposits }: ExistingOrder): string {
  const isExtended = waits_until !== null && deposits.length === 0 && isAfter(waits_until, expires_at);
  return isExtended ? waits_until : expires_at;
}

/** Returns true if `a` is later than `b`. Both are ISO 8601 times with any number of digits. */
export function isAfter(a: string, b: string): boolean {
  return Date.parse(a) > Date.parse(b);
}

export function allDeposits({ deposits, late_deposits }: ExistingOrder): readonly DepositFacts[] {
  return [...deposits, ...late_deposits];
}

export function amountReceived({ deposits }: ExistingOrder): string {
  return sum(deposits.map(({ amount }) => amount));
}

/** The amount still to be refunded: unexchanged and late deposits, less losses and refunds. */
export function amountRefundable(state: ExistingOrder): string {
  const { due, spent } = balance(state);
  // A provider may refund all deposits after an operator refunded a part.
  return isAtLeast(spent, due) ? '0' : minus(due, spent);
}

/** The amount that was exchanged or refunded although its deposits are no longer on the chain. */
export function shortfall(state: ExistingOrder): string {
  if (isZero(state.lost)) return '0';
  const { due, spent } = balance(state);
  return isAtLeast(due, spent) ? '0' : least(minus(spent, due), state.lost);
}

/** Returns the sum due, with late deposits and dust (never exchanged), and the sum lost or refunded. */
function balance({ refundable, dust, late_deposits, lost, refunds }: ExistingOrder) {
  const amounts = (all: readonly { readonly amount: string }[]) => all.map(({ amount }) => amount);
  return {
    due: sum([refundable, ...amounts([dust, ...late_deposits])]),
    spent: sum([lost, ...amounts(refunds)]),
  };
}

/** Adds the owner and the new state of the order to the event, if the event sends webhooks. */
export function withPublishedState(decided: LaterOrderEvent, before: ExistingOrder): OrderEvent {
  if (!PUBLISHED_EVENTS.some((type) => type === decided.type)) return decided as OrderEvent;
  const after = evolveExisting(before, decided);
  const { merchant_id, key_id, status } = after;
  const published = { merchant_id, key_id, status, amount_refundable: amountRefundable(after) };
  return { type: decided.type, data: { ...decided.data, ...published } } as OrderEvent;
}

/** Creates an order; a repeat changes nothing. Throws IdempotencyKeyExpired for a repeat that is too late. */
export function createOrder(facts: OrderFacts, state: OrderState): OrderEvent[] {
  if (state.status === 'none') return [{ type: 'order.created.v1', data: facts }];
  requireIdempotent(state.created_at, facts.created_at);
  if (state.is_erased)
    throw new DomainError(
      'invalid_transition',
      'The personal data of the order with this Idempotency-Key is erased; a new order needs a new key',
    );
  const changed = REQUESTED.find((name) => state[name] !== facts[name]);
  if (changed !== undefined)
    throw new DomainError(
      'validation_failed',
      `The Idempotency-Key was used for another order: ${changed} differs`,
    ).asTransient();
  return [];
}

const REQUESTED = ['key_id', 'pair_id', ...PAYER_FIELDS] as const satisfies (keyof OrderFacts)[];

/** Marks a pending order as paid, which extends its wait to `waits_until`. A repeat changes nothing. */
export function markAsPaid(
  { at, waits_until }: Readonly<Record<'at' | 'waits_until', string>>,
  state: OrderState,
): OrderEvent[] {
  const { status, order_id, expires_at } = existingOrder(state);
  if (status === 'paid') return [];
  const isOver = status === 'pending' && !isAfter(expires_at, at);
  if (status !== 'pending' || isOver)
    throw transitionError(`The order is ${isOver ? 'expired' : status} and cannot be marked as paid`);
  return [{ type: 'order.marked_as_paid.v1', data: { order_id, waits_until, at } }];
}

/** Cancels a pending order. Refuses while a transfer is unconfirmed, as it would become a late deposit. */
export function cancelOrder(
  command: { readonly at: string; readonly isDepositPending: boolean },
  state: OrderState,
): OrderEvent[] {
  const known = existingOrder(state);
  if (known.status !== 'pending')
    throw transitionError(`The order is ${known.status} and cannot be cancelled`);
  if (command.isDepositPending)
    throw transitionError('The order cannot be cancelled while a deposit to it is in progress');
  const data = { order_id: known.order_id, refundable: amountReceived(known), at: command.at };
  return [withPublishedState({ type: 'order.cancelled.v1', data }, known)];
}

/** Records an operator's refund of at most the refundable amount. A repeat has no effect. */
export function recordRefund(
  command: Readonly<Record<'amount' | 'transaction_hash' | 'actor' | 'at', string>>,
  state: OrderState,
): OrderEvent[] {
  const known = existingOrder(state);
  const { transaction_hash, actor, at } = command;
  const amount = sum([command.amount]);
  const hash = plainHash(transaction_hash);
  const earlier = known.refunds.find((refund) => plainHash(refund.transaction_hash) === hash);
  if (earlier?.amount === amount) return [];
  if (earlier !== undefined) throw transitionError(`That transaction refunded ${earlier.amount} already`);
  if (isZero(amount)) throw transitionError('A refund must be more than 0');
  if (!isAtLeast(amountRefundable(known), amount))
    throw transitionError(`At most ${amountRefundable(known)} is refundable`);
  const data = { order_id: known.order_id, amount, transaction_hash, actor, at };
  return [withPublishedState({ type: 'order.refund_recorded.v1', data }, known)];
}

export function existingOrder(state: OrderState): ExistingOrder {
  if (state.status === 'none') throw DomainError.notFound('Order');
  return state;
}

export function transitionError(message: string): DomainError {
  return new DomainError('invalid_transition', message);
}

/** Erases an order's personal data. Throws `invalid_transition` before its end; a repeat has no effect. */
export function eraseOrder(
  { actor, at }: { readonly actor: string; readonly at: string },
  state: ExistingOrder,
): OrderEvent[] {
  if (state.is_erased) return [];
  if (!hasEnded(state))
    throw transitionError(`The order is ${state.status}: its personal data can be erased once it has ended`);
  const { order_id, key_id } = state;
  return [{ type: 'order.personal_data_erased.v1', data: { order_id, key_id, actor, at } }];
}

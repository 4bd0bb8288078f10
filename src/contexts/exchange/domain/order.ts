import type { Aggregate } from '../../../kernel/aggregate.js';
import { exchanged, isAtLeast, isZero, least, minus, sum } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { DepositFacts, OrderEvent, OrderFacts, OrderStatus } from './order-events.js';

/** An exchange order from its quote to its one outcome (contract.md 22, 23). */
export type Order = { readonly status: 'none' } | MadeOrder;

export interface MadeOrder {
  readonly status: OrderStatus;
  readonly facts: OrderFacts;
  readonly updatedAt: string;
  /** Null unless it was marked so. */
  readonly paidAt: string | null;
  /** Counted towards what was asked. */
  readonly deposits: readonly DepositFacts[];
  /** Never exchanged. */
  readonly lateDeposits: readonly DepositFacts[];
  /** What is exchanged; what was asked as long as nothing is. */
  readonly amountFrom: string;
  readonly amountTo: string;
  /** Of the counted deposits: what has to go back. */
  readonly refundable: string;
  /** Given back, of what was refundable and of late deposits. */
  readonly refunded: string;
  readonly reason: string | null;
  readonly withdrawTransactionHash: string | null;
  readonly lateOutcome: string | null;
}

export const order: Aggregate<Order, OrderEvent> = {
  category: 'order',
  initial: { status: 'none' },
  evolve(state, event) {
    if (event.type === 'order.created.v1') return created(event.data);
    return state.status === 'none' ? state : { ...evolveMade(state, event), updatedAt: event.data.at };
  },
};

function created(facts: OrderFacts): MadeOrder {
  return {
    status: 'pending',
    facts,
    updatedAt: facts.created_at,
    paidAt: null,
    deposits: [],
    lateDeposits: [],
    amountFrom: facts.amount_from,
    amountTo: facts.amount_to,
    refundable: '0',
    refunded: '0',
    reason: null,
    withdrawTransactionHash: null,
    lateOutcome: null,
  };
}

function evolveMade(state: MadeOrder, event: Exclude<OrderEvent, { type: 'order.created.v1' }>): MadeOrder {
  switch (event.type) {
    case 'order.marked_as_paid.v1':
      return { ...state, status: 'paid', paidAt: event.data.at };
    case 'order.cancelled.v1':
      return { ...state, status: 'cancelled', refundable: event.data.refundable };
    case 'order.expired.v1':
      return { ...state, status: 'expired' };
    case 'order.deposit_received.v1':
      return { ...state, deposits: [...state.deposits, depositOf(event.data)] };
    case 'order.processing_started.v1': {
      const { amount_from: amountFrom, amount_to: amountTo, refundable } = event.data;
      return { ...state, status: 'processing', amountFrom, amountTo, refundable };
    }
    case 'order.completed.v1': {
      const { amount_to: amountTo, withdraw_transaction_hash: withdrawTransactionHash } = event.data;
      return { ...state, status: 'completed', amountTo, withdrawTransactionHash };
    }
    case 'order.failed.v1':
      return { ...state, status: 'failed', reason: event.data.reason, refundable: event.data.refundable };
    case 'order.refunded.v1':
      return { ...state, status: 'refunded', refundable: '0' };
    case 'order.late_deposit_recorded.v1':
      return { ...state, lateDeposits: [...state.lateDeposits, depositOf(event.data)] };
    case 'order.late_outcome_recorded.v1':
      return { ...state, lateOutcome: event.data.outcome };
    case 'order.refund_recorded.v1':
      return { ...state, refunded: sum([state.refunded, event.data.amount]) };
    default:
      event satisfies never;
      return state;
  }
}

function depositOf({ deposit_id, amount, transaction_hash, deposited_at }: DepositFacts): DepositFacts {
  return { deposit_id, amount, transaction_hash, deposited_at };
}

/** Unpaid for so long after `mark_as_paid`, an order has failed. */
export const PAID_WAITS_MS = 24 * 3_600_000;

export function isOpen({ status }: MadeOrder): boolean {
  return status === 'pending' || status === 'paid';
}

export function amountReceived({ deposits }: MadeOrder): string {
  return sum(deposits.map(({ amount }) => amount));
}

/** What an operator still has to give back: the rest of counted deposits, and late ones. */
export function owed({ refundable, lateDeposits, refunded }: MadeOrder): string {
  return minus(sum([refundable, ...lateDeposits.map(({ amount }) => amount)]), refunded);
}

/** A repeat finds its own order. */
export function createOrder(facts: OrderFacts, state: Order): OrderEvent[] {
  return state.status === 'none' ? [{ type: 'order.created.v1', data: facts }] : [];
}

/** Pending to paid; a repeat changes nothing. */
export function markAsPaid(command: { readonly at: string }, state: Order): OrderEvent[] {
  const { status, facts } = made(state);
  if (status === 'paid') return [];
  if (status !== 'pending' || command.at >= facts.expires_at)
    throw outOfTurn('marked as paid', status === 'pending' ? 'expired' : status);
  return [{ type: 'order.marked_as_paid.v1', data: { order_id: facts.order_id, at: command.at } }];
}

/** Pending to cancelled; a repeat changes nothing. What had come of too little is refundable. */
export function cancelOrder(command: { readonly at: string }, state: Order): OrderEvent[] {
  const known = made(state);
  if (known.status === 'cancelled') return [];
  if (known.status !== 'pending') throw outOfTurn('cancelled', known.status);
  const data = { order_id: known.facts.order_id, refundable: amountReceived(known), at: command.at };
  return [{ type: 'order.cancelled.v1', data }];
}

/** What the provider tells, with `at` the moment it was asked. */
export interface Observation {
  readonly deposits: readonly {
    readonly id: string;
    readonly amount: string;
    readonly transactionHash: string;
    readonly at: string;
  }[];
  readonly isDepositUnderWay: boolean;
  readonly completeUntil: string | null;
  readonly outcome:
    | { readonly kind: 'completed'; readonly transactionHash: string; readonly amountTo: string | null }
    | { readonly kind: 'refunded'; readonly transactionHash: string | null }
    | { readonly kind: 'failed'; readonly reason: string }
    | null;
  readonly at: string;
}

/** What follows from a look at the provider: deposits counted once, then its outcome, then the end of time. Never goes back. */
export function observe(observation: Observation, state: Order): OrderEvent[] {
  if (state.status === 'none') return [];
  const events: OrderEvent[] = [];
  let now: MadeOrder = state;
  const add = (more: readonly OrderEvent[]): void => {
    events.push(...more);
    for (const event of more) now = order.evolve(now, event) as MadeOrder;
  };
  for (const deposit of observation.deposits) add(deposited(deposit, observation.at, now));
  add(outcomeOf(observation, now));
  add(endOfTime(observation, now));
  return events;
}

function deposited(
  { id, amount, transactionHash, at: depositedAt }: Observation['deposits'][number],
  at: string,
  state: MadeOrder,
): OrderEvent[] {
  const known = [...state.deposits, ...state.lateDeposits];
  if (known.some(({ deposit_id }) => deposit_id === id)) return [];
  const data = {
    order_id: state.facts.order_id,
    deposit_id: id,
    amount,
    transaction_hash: transactionHash,
    deposited_at: depositedAt,
    at,
  };
  if (!isOpen(state)) return [{ type: 'order.late_deposit_recorded.v1', data }];
  const received: OrderEvent = { type: 'order.deposit_received.v1', data };
  const total = sum([amountReceived(state), amount]);
  return isAtLeast(total, state.facts.amount_from)
    ? [received, processingStarted(total, at, state)]
    : [received];
}

/** At the order's rate, up to the pair's maximum; the rest is refundable. */
function processingStarted(total: string, at: string, { facts }: MadeOrder): OrderEvent {
  const amountFrom = least(total, facts.maximum);
  const asked = amountFrom === facts.amount_from;
  return {
    type: 'order.processing_started.v1',
    data: {
      order_id: facts.order_id,
      amount_from: amountFrom,
      amount_to: asked ? facts.amount_to : exchanged(amountFrom, facts.rate, facts.decimals_to),
      refundable: minus(total, amountFrom),
      at,
    },
  };
}

function outcomeOf({ outcome, at }: Observation, state: MadeOrder): OrderEvent[] {
  if (outcome === null) return [];
  const order_id = state.facts.order_id;
  if (!isOpen(state) && state.status !== 'processing') {
    const settled = ['completed', 'refunded', 'failed'].includes(state.status) && state.deposits.length > 0;
    if (settled && state.status === outcome.kind) return [];
    if (state.lateOutcome === outcome.kind || outcome.kind === 'failed') return [];
    const { kind, transactionHash: transaction_hash } = outcome;
    return [
      { type: 'order.late_outcome_recorded.v1', data: { order_id, outcome: kind, transaction_hash, at } },
    ];
  }
  const received = amountReceived(state);
  switch (outcome.kind) {
    case 'completed': {
      const started = isOpen(state) ? [processingStarted(received, at, state)] : [];
      const amount_to = outcome.amountTo ?? state.amountTo;
      const withdraw_transaction_hash = outcome.transactionHash;
      return [
        ...started,
        { type: 'order.completed.v1', data: { order_id, amount_to, withdraw_transaction_hash, at } },
      ];
    }
    case 'refunded': {
      const refund_transaction_hash = outcome.transactionHash;
      return [{ type: 'order.refunded.v1', data: { order_id, refund_transaction_hash, at } }];
    }
    case 'failed':
      return [
        { type: 'order.failed.v1', data: { order_id, reason: outcome.reason, refundable: received, at } },
      ];
  }
}

/** An order ends for want of a deposit only when the provider has said all there is up to that end. */
function endOfTime(observation: Observation, state: MadeOrder): OrderEvent[] {
  if (!isOpen(state) || observation.isDepositUnderWay || observation.completeUntil === null) return [];
  const { order_id, expires_at } = state.facts;
  const received = amountReceived(state);
  const isPartlyPaid = !isZero(received);
  const end =
    state.paidAt === null || isPartlyPaid
      ? expires_at
      : new Date(Date.parse(state.paidAt) + PAID_WAITS_MS).toISOString();
  const { at, completeUntil } = observation;
  if (at < end || completeUntil < end) return [];
  if (isPartlyPaid)
    return [
      { type: 'order.failed.v1', data: { order_id, reason: 'deposit_too_low', refundable: received, at } },
    ];
  if (state.paidAt === null) return [{ type: 'order.expired.v1', data: { order_id, at } }];
  return [{ type: 'order.failed.v1', data: { order_id, reason: 'no_deposit', refundable: '0', at } }];
}

/** An operator gave money back: never more than is owed. */
export function recordRefund(
  command: {
    readonly amount: string;
    readonly transactionHash: string;
    readonly actor: string;
    readonly at: string;
  },
  state: Order,
): OrderEvent[] {
  const known = made(state);
  const { amount, transactionHash: transaction_hash, actor, at } = command;
  if (isZero(amount) || !isAtLeast(owed(known), amount))
    throw new DomainError('invalid_transition', `At most ${owed(known)} is refundable`);
  return [
    {
      type: 'order.refund_recorded.v1',
      data: { order_id: known.facts.order_id, amount, transaction_hash, actor, at },
    },
  ];
}

export function made(state: Order): MadeOrder {
  if (state.status === 'none') throw DomainError.notFound('Order');
  return state;
}

function outOfTurn(what: string, status: string): DomainError {
  return new DomainError('invalid_transition', `The order is ${status} and cannot be ${what}`);
}

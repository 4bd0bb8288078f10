import { historyRules } from '../../../kernel/history-rules.js';
import { eraseOrder } from './order-erasure.js';
import type { OrderEvent, OrderStatus } from './order-events.js';
import {
  cancelOrder,
  createOrder,
  made,
  markAsPaid,
  order,
  recordRefund,
  type MadeOrder,
  type Order,
} from './order.js';

const OPEN: readonly OrderStatus[] = ['pending', 'paid'];
const UNDER_WAY: readonly OrderStatus[] = [...OPEN, 'processing'];

/**
 * What auditors hold each order against. What the provider saw is no part of the history, so that events which rest on it
 * are judged by the status they follow from; what they add up to, the audit's own books check.
 */
export const orderHistory = historyRules(
  order,
  {
    'order.created.v1': (facts, state) =>
      state.status === 'none' ? createOrder(facts, state) : 'the order is made once',
    'order.marked_as_paid.v1': ({ at, waits_until: waitsUntil }, state) =>
      markAsPaid({ at, waitsUntil }, state),
    'order.cancelled.v1': ({ at }, state) => cancelOrder({ at, isDepositUnderWay: false }, state),
    'order.refund_recorded.v1': ({ amount, transaction_hash: transactionHash, actor, at }, state) =>
      recordRefund({ amount, transactionHash, actor, at }, state),
    'order.personal_data_erased.v1': ({ actor, at }, state) => eraseOrder({ actor, at }, made(state)),
    'order.expired.v1': follows('order.expired.v1', ['pending']),
    'order.deposit_received.v1': follows('order.deposit_received.v1', OPEN),
    'order.processing_started.v1': follows('order.processing_started.v1', OPEN),
    'order.completed.v1': follows('order.completed.v1', ['processing']),
    'order.failed.v1': follows('order.failed.v1', UNDER_WAY),
    'order.refunded.v1': follows('order.refunded.v1', UNDER_WAY),
    'order.late_deposit_recorded.v1': follows('order.late_deposit_recorded.v1', null),
    'order.deposit_missing.v1': follows('order.deposit_missing.v1', null),
    'order.dust_recorded.v1': follows('order.dust_recorded.v1', null),
    'order.late_outcome_recorded.v1': (data, state) => {
      if (state.status === 'none') return 'the order is made first';
      return UNDER_WAY.includes(state.status) || state.lateOutcomes.includes(data.outcome)
        ? `the order is ${state.status}, after which it does not come`
        : [{ type: 'order.late_outcome_recorded.v1' as const, data }];
    },
  },
  {
    id: 'order_id',
    remember: (state) => (state.status === 'none' || UNDER_WAY.includes(state.status) ? state : ended(state)),
  },
);

/** `null`: whatever the status. */
function follows<Type extends OrderEvent['type']>(type: Type, from: readonly OrderStatus[] | null) {
  return (
    data: Extract<OrderEvent, { type: Type }>['data'],
    state: Order,
  ): readonly OrderEvent[] | string => {
    if (state.status === 'none') return 'the order is made first';
    if (from !== null && !from.includes(state.status))
      return `the order is ${state.status}, after which it does not come`;
    return [{ type, data } as unknown as OrderEvent];
  };
}

/** Of an order that ended: what has to be given back, and what was. */
function ended(state: MadeOrder): MadeOrder {
  const { order_id, key_id, created_at } = state.facts;
  return { ...state, facts: { order_id, key_id, created_at } as MadeOrder['facts'], deposits: [] };
}

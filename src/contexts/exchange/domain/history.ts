import { historyRules, type LogRule } from '../../../kernel/history-rules.js';
import type { CredentialIssued } from '../../access/contract.js';
import { observe, type Observation } from './observation.js';
import {
  eraseOrder,
  amountReceived,
  cancelOrder,
  createOrder,
  existingOrder,
  hasEnded,
  isOpen,
  markAsPaid,
  order,
  recordRefund,
  withPublishedState,
  type ExistingOrder,
  type OrderState,
} from './order.js';
import type { LaterOrderEvent, OrderEvent, OrderEventOf } from './order-events.js';

const EXCHANGED = { kind: 'completed', transactionHash: '', amountTo: null } as const;
const NOTHING = { deposits: [], isDepositPending: false, completeUntil: null, outcome: null };

type DataOf<Type extends LaterOrderEvent['type']> = OrderEventOf<Type>['data'];
type Decided = readonly OrderEvent[] | string;

/** An event that follows the creation wherever the state allows it. */
function follows<Type extends LaterOrderEvent['type']>(
  type: Type,
  isAllowed: (state: ExistingOrder, data: DataOf<Type>) => boolean = () => true,
  decide = (data: DataOf<Type>, state: ExistingOrder): Decided => [
    withPublishedState({ type, data } as LaterOrderEvent, state),
  ],
) {
  return (data: DataOf<Type>, state: OrderState): Decided => {
    if (state.status === 'none') return 'the order is created first';
    if (isAllowed(state, data)) return decide(data, state);
    return `the order is ${state.status}, after which it does not come`;
  };
}

/** An event that follows first when the provider says no more than the event does. */
function observed<Type extends LaterOrderEvent['type']>(
  type: Type,
  seen: (data: DataOf<Type>) => Partial<Observation>,
) {
  const decide = (data: DataOf<Type>, state: ExistingOrder): Decided => {
    const [first] = observe({ ...NOTHING, at: data.at, ...seen(data) }, state);
    if (first?.type === type) return [first];
    return `the order is ${state.status} with ${amountReceived(state)} received, and it does not follow`;
  };
  return follows(type, (state) => !hasEnded(state), decide);
}

/**
 * What an audit verifies of each order. Which deposits the provider listed is no part of the history: a deposit is verified
 * by the status it follows. What follows from the deposits is decided again, to the last digit of its amounts.
 */
export const orderHistory = historyRules(
  order,
  {
    'order.created.v1': (facts, state) =>
      state.status === 'none' ? createOrder(facts, state) : 'the order is created once',
    'order.marked_as_paid.v1': ({ at, waits_until: waitsUntil }, state) =>
      markAsPaid({ at, waitsUntil }, state),
    'order.cancelled.v1': ({ at }, state) => cancelOrder({ at, isDepositPending: false }, state),
    'order.refund_recorded.v1': ({ amount, transaction_hash: transactionHash, actor, at }, state) =>
      recordRefund({ amount, transactionHash, actor, at }, state),
    'order.personal_data_erased.v1': ({ actor, at }, state) =>
      eraseOrder({ actor, at }, existingOrder(state)),
    'order.expired.v1': observed('order.expired.v1', ({ at }) => ({ completeUntil: at })),
    'order.processing_started.v1': observed('order.processing_started.v1', () => ({ outcome: EXCHANGED })),
    'order.completed.v1': observed('order.completed.v1', (data) => ({
      outcome: { ...EXCHANGED, amountTo: data.amount_to, transactionHash: data.withdraw_transaction_hash },
    })),
    'order.failed.v1': observed('order.failed.v1', ({ reason }) => ({ outcome: { kind: 'failed', reason } })),
    'order.refunded.v1': observed('order.refunded.v1', ({ refund_transaction_hash: transactionHash }) => ({
      outcome: { kind: 'refunded', transactionHash },
    })),
    'order.deposit_received.v1': follows('order.deposit_received.v1', isOpen),
    'order.late_deposit_recorded.v1': follows('order.late_deposit_recorded.v1'),
    'order.deposit_missing.v1': follows('order.deposit_missing.v1'),
    'order.dust_recorded.v1': follows('order.dust_recorded.v1'),
    'order.late_outcome_recorded.v1': follows(
      'order.late_outcome_recorded.v1',
      (state, { outcome }) => hasEnded(state) && !state.lateOutcomes.includes(outcome),
    ),
  },
  {
    id: 'order_id',
    remember: (state) => (state.status === 'none' || !hasEnded(state) ? state : ended(state)),
  },
);

/** An order is created by a key of its merchant, and a deposit is recorded once, unless it went off the chain. */
export function acrossOrders(): LogRule {
  const merchantOf = new Map<string, string>();
  /** The order that has a deposit. */
  const orderOf = new Map<string, string>();
  return (recorded) => {
    const event = recorded as OrderEvent | CredentialIssued;
    switch (event.type) {
      case 'credential.issued.v1':
        if (event.data.kind === 'exchange') merchantOf.set(event.data.key_id, event.data.owner_id);
        return null;
      case 'order.created.v1': {
        const { order_id: id, key_id: key, merchant_id: merchant } = event.data;
        return merchantOf.get(key) === merchant ? null : `order ${id} is created by a key of its merchant`;
      }
      case 'order.deposit_received.v1':
      case 'order.late_deposit_recorded.v1': {
        const { deposit_id: deposit, order_id: id } = event.data;
        if (orderOf.has(deposit)) return `deposit ${deposit} is recorded once, and not first for ${id}`;
        orderOf.set(deposit, id);
        return null;
      }
      case 'order.deposit_missing.v1': {
        const { deposit_id: deposit, order_id: id } = event.data;
        if (orderOf.get(deposit) !== id)
          return `order ${id} has the deposit ${deposit} before it goes missing`;
        orderOf.delete(deposit);
        return null;
      }
      default:
        return null;
    }
  };
}

/** Reduces an ended order to its refundable amount, its refunds and its owner. */
function ended(state: ExistingOrder): ExistingOrder {
  const { order_id, key_id, merchant_id, created_at } = state.facts;
  const facts = { order_id, key_id, merchant_id, created_at } as ExistingOrder['facts'];
  return { ...state, facts, deposits: [] };
}

import { historyRules, type LogRule } from '../../../kernel/history-rules.js';
import type { CredentialIssued } from '../../access/access.contract.js';
import { observe, type Observation } from '../watch/observation.js';
import {
  eraseOrder,
  amountReceived,
  cancelOrder,
  createOrder,
  existingOrder,
  hasEnded,
  isOpen,
  markAsPaid,
  NO_PERSON,
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

/** Returns the audit rule of an event that is valid in every state that `isAllowed` accepts. */
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
    return `the order is ${state.status}, which does not allow the event`;
  };
}

/** Returns the audit rule of an event: `observe` must decide the same event from its content. */
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

/** The audit rules of an order. Deposit amounts are not checked, because only the provider lists them. */
export const orderHistory = historyRules(
  order,
  {
    'order.created.v1': (facts, state) =>
      state.status === 'none' ? createOrder(facts, state) : 'the order is created once',
    'order.marked_as_paid.v1': markAsPaid,
    'order.cancelled.v1': ({ at }, state) => cancelOrder({ at, isDepositPending: false }, state),
    'order.refund_recorded.v1': recordRefund,
    'order.personal_data_erased.v1': (data, state) => eraseOrder(data, existingOrder(state)),
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
      (state, { outcome }) => hasEnded(state) && !state.late_outcomes.includes(outcome),
    ),
  },
  {
    id: 'order_id',
    remember: (state) => (state.status !== 'none' && hasEnded(state) ? { ...state, ...ENDED_TERMS } : state),
  },
);

/** The audit rules across orders: an order needs a key of its merchant, and a deposit is recorded once. */
export function acrossOrders(): LogRule {
  const merchants = new Map<string, string>();
  const orders = new Map<string, string>();
  return (recorded) => {
    const event = recorded as OrderEvent | CredentialIssued;
    switch (event.type) {
      case 'credential.issued.v1':
        if (event.data.kind === 'exchange') merchants.set(event.data.key_id, event.data.owner_id);
        return null;
      case 'order.created.v1': {
        const { order_id, key_id, merchant_id } = event.data;
        return merchants.get(key_id) === merchant_id
          ? null
          : `order ${order_id} is created by a key of its merchant`;
      }
      case 'order.deposit_received.v1':
      case 'order.late_deposit_recorded.v1':
      case 'order.deposit_missing.v1': {
        const { deposit_id: deposit, order_id: id } = event.data;
        const owner = orders.get(deposit);
        if (event.type !== 'order.deposit_missing.v1') {
          if (owner !== undefined) return `deposit ${deposit} is recorded once, and not first for ${id}`;
          orders.set(deposit, id);
        } else if (owner === id) orders.delete(deposit);
        else return `order ${id} has the deposit ${deposit} before it goes missing`;
        return null;
      }
      default:
        return null;
    }
  };
}

/** The replacement for terms of an ended order that no later event needs. It saves memory in audits. */
const ENDED_TERMS = {
  ...{ pair_id: '', withdraw_address: '', ...NO_PERSON, user_hash: null, caller: null, provider: '' },
  ...{ provider_reference: '', deposit_address: '', deposit_address_tag: null, expires_at: '' },
  ...{ rate: '', minimum: '', maximum: '', deposits: [] },
};

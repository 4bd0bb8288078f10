import { foldedRows } from '../../../platform/projections/folded-rows.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { ORDER_EVENTS, ORDER_STATUSES, type OrderStatus } from '../domain/order-events.js';
import { plainHash } from '../domain/addresses.js';
import { orderRecord } from '../domain/order-record.js';
import { amountRefundable, order, shortfall, type ExistingOrder } from '../domain/order.js';

/** Name of the checkpoint that a list waits for. */
export const ORDER_VIEWS = subscriptionName('exchange.views');

export const orderViews: SubscriptionDefinition = {
  name: ORDER_VIEWS,
  events: ORDER_EVENTS,
  // Lists wait for it, orders do not: under load a little more in a batch costs much less.
  gatherMs: 20,
  staysSealed: true,
  apply: foldedRows({
    schema: 'exchange',
    table: 'orders',
    aggregate: order,
    id: 'order_id',
    toRow: (state) => (state.status === 'none' ? null : toRow(state)),
  }),
  tables: { schema: 'exchange', names: ['orders'], json: ['events'] },
};

/** `body`: the order as the API displays it, but for personal fields, which are sealed. */
function toRow(state: ExistingOrder) {
  const { key_id, merchant_id, user_hash, withdraw_address, created_at } = state.facts;
  return {
    key_id,
    merchant_id,
    user_hash,
    withdraw_address,
    created_at,
    status: statusNumber(state.status),
    refundable: amountRefundable(state),
    shortfall: shortfall(state),
    search_keys: searchKeys(state),
    body: JSON.stringify(orderRecord(state)),
  };
}

function searchKeys(state: ExistingOrder): readonly string[] {
  const transfers = [...state.deposits, ...state.lateDeposits, ...state.refunds];
  const hashes = transfers.map(({ transaction_hash }) => transaction_hash);
  const others = [state.facts.deposit_address, state.withdrawTransactionHash, state.refundTransactionHash];
  return [...new Set([...others, ...hashes].filter((key) => key !== null).map(plainHash))];
}

/** The number of a status in `exchange.orders.status`. */
export function statusNumber(status: OrderStatus): number {
  return ORDER_STATUSES.indexOf(status);
}

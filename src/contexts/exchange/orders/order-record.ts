import type { DepositFacts } from './order-events.js';
import { amountReceived, amountRefundable, type ExistingOrder } from './order.js';

/** The maximum number of late deposits in a record. `amount_refundable` includes all late deposits. */
const MAX_LATE_DEPOSITS = 50;

/** The members of a record in the order of the API (contract.md 22.3). */
const MEMBERS = [
  ...(['id', 'pair_id', 'status', 'reason'] as const),
  ...(['withdraw_address', 'withdraw_address_tag', 'withdraw_address_memo', 'user_id'] as const),
  ...(['deposit_address', 'deposit_address_tag'] as const),
  ...(['amount_from', 'amount_to', 'amount_received', 'amount_refundable'] as const),
  ...(['rate', 'minimum', 'maximum', 'deposit_transaction_hash', 'withdraw_transaction_hash'] as const),
  ...(['late_deposits', 'waits_until', 'refunds', 'refund_transaction_hash'] as const),
  ...(['created_at', 'updated_at', 'expires_at'] as const),
];

export function orderRecord(state: ExistingOrder) {
  const members = {
    ...state,
    id: state.order_id,
    amount_received: amountReceived(state),
    amount_refundable: amountRefundable(state),
    deposit_transaction_hash: state.deposits.at(-1)?.transaction_hash ?? null,
    late_deposits: state.late_deposits.slice(-MAX_LATE_DEPOSITS).map(toDepositJson),
  };
  const record = Object.fromEntries(MEMBERS.map((name) => [name, members[name]]));
  return record as Pick<typeof members, (typeof MEMBERS)[number]>;
}

/** The body of every response about one order (contract.md 22). */
export function orderResponse(state: ExistingOrder, complianceNotice: string | null): string {
  return JSON.stringify({ order: orderRecord(state), compliance_notice: complianceNotice });
}

export type OrderRecord = ReturnType<typeof orderRecord>;

/** Returns the order as it is listed for operators and in the portal. */
export function listedOrder(state: ExistingOrder) {
  const { merchant_id, key_id: api_key } = state;
  return { ...orderRecord(state), merchant_id, api_key, deposits: state.deposits.map(toDepositJson) };
}

export type OrderJson = ReturnType<typeof listedOrder>;

function toDepositJson({ amount, transaction_hash, deposited_at }: DepositFacts) {
  return { amount, transaction_hash, deposited_at };
}

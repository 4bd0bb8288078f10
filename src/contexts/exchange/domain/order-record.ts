import type { DepositFacts } from './order-events.js';
import { amountReceived, amountRefundable, type ExistingOrder } from './order.js';

/** Late deposits that the record lists: the newest ones. What came in others is in `amount_refundable` all the same. */
const MAX_LATE_DEPOSITS = 50;

/** The order as the API shows it (contract.md 22.3), as an object in the order of its members. */
export function orderRecord(state: ExistingOrder) {
  const { facts, deposits, lateDeposits } = state;
  return {
    id: facts.order_id,
    pair_id: facts.pair_id,
    status: state.status,
    reason: state.reason,
    withdraw_address: facts.withdraw_address,
    withdraw_address_tag: facts.withdraw_address_tag,
    withdraw_address_memo: facts.withdraw_address_memo,
    user_id: facts.user_id,
    deposit_address: facts.deposit_address,
    deposit_address_tag: facts.deposit_address_tag,
    amount_from: state.amountFrom,
    amount_to: state.amountTo,
    amount_received: amountReceived(state),
    amount_refundable: amountRefundable(state),
    rate: facts.rate,
    minimum: facts.minimum,
    maximum: facts.maximum,
    deposit_transaction_hash: deposits.at(-1)?.transaction_hash ?? null,
    withdraw_transaction_hash: state.withdrawTransactionHash,
    late_deposits: lateDeposits.slice(-MAX_LATE_DEPOSITS).map(toDepositJson),
    waits_until: state.waitsUntil,
    refunds: state.refunds,
    refund_transaction_hash: state.refundTransactionHash,
    created_at: facts.created_at,
    updated_at: state.updatedAt,
    expires_at: facts.expires_at,
  };
}

/** The body of every response about one order (contract.md 22). */
export function orderResponse(state: ExistingOrder, complianceNotice: string | null): string {
  return JSON.stringify({ order: orderRecord(state), compliance_notice: complianceNotice });
}

export type OrderRecord = ReturnType<typeof orderRecord>;

/** The order as people get it: with its merchant, its key and the deposits that counted. */
export function listedOrder(state: ExistingOrder) {
  const { merchant_id, key_id: api_key } = state.facts;
  return { ...orderRecord(state), merchant_id, api_key, deposits: state.deposits.map(toDepositJson) };
}

export type OrderJson = ReturnType<typeof listedOrder>;

function toDepositJson({ amount, transaction_hash, deposited_at }: DepositFacts) {
  return { amount, transaction_hash, deposited_at };
}

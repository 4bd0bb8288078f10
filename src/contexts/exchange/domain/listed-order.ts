import type { DepositFacts } from './order-events.js';
import { orderRecord } from './order-record.js';
import type { ExistingOrder } from './order.js';

/** The order as the exchange API displays it, with whose it is, and the transfers to and from it. */
export function listedOrder(state: ExistingOrder) {
  const { facts, deposits } = state;
  return {
    ...orderRecord(state),
    merchant_id: facts.merchant_id,
    /** The public part of the key that created it. */
    api_key: facts.key_id,
    deposits: deposits.map(depositJson),
  };
}

export type ListedOrder = ReturnType<typeof listedOrder>;

/** Deposits that counted; late ones are in `late_deposits` of the record. */
function depositJson({ amount, transaction_hash, deposited_at }: DepositFacts) {
  return { amount, transaction_hash, deposited_at };
}

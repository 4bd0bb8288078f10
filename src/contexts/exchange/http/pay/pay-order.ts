import { isAtLeast, minus, sum } from '../../../../kernel/decimal.js';
import { hasEnded, type ExistingOrder } from '../../domain/order.js';
import { orderRecord } from '../../domain/order-record.js';
import type { PayOrder, Transfer } from './pay-types.js';

/** The order as the page displays it; `now` in epoch ms. */
export function payOrder(state: ExistingOrder, now: number): PayOrder {
  const order = orderRecord(state);
  const { amount_from: amount, amount_received: received } = order;
  const missing = isAtLeast(received, amount) ? '0' : minus(amount, received);
  return { order, missing, transfers: transfersOf(state), is_final: hasEnded(state), now };
}

/** Every transaction that is known, in the order in which they are read. */
function transfersOf(state: ExistingOrder): readonly Transfer[] {
  const { deposits, lateDeposits, refunds, withdrawTransactionHash, refundTransactionHash } = state;
  const received = sum(deposits.map(({ amount }) => amount));
  return [
    ...deposits.map((each) => transfer('deposit', each)),
    ...lateDeposits.map((each) => transfer('late', each)),
    ...(withdrawTransactionHash === null
      ? []
      : [transfer('payout', { amount: state.amountTo, transaction_hash: withdrawTransactionHash })]),
    ...(refundTransactionHash === null
      ? []
      : [transfer('refund', { amount: received, transaction_hash: refundTransactionHash })]),
    ...refunds.map((each) => transfer('refund', each)),
  ];
}

function transfer(
  kind: Transfer['kind'],
  { amount, transaction_hash: hash }: { readonly amount: string; readonly transaction_hash: string },
): Transfer {
  return { kind, amount, hash };
}

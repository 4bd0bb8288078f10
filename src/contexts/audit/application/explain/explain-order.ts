import { DomainError } from '../../../../kernel/domain-error.js';
import { ORDER_CATEGORY } from '../../../exchange/contract.js';
import { OrderBooks, owedOf, type BookedOrder } from '../../domain/order-books.js';
import { inUtc } from '../../domain/words.js';
import { idOf } from '../user-history.js';
import { own, tell, type Explanation, type Row, type Sources } from './explanation.js';

/** An exchange order from the call that made it to its outcome. Throws DomainError `not_found`. */
export async function explainOrder(sources: Sources, id: string): Promise<Explanation> {
  const orderId = idOf('order', id);
  const events = await own(sources.log, `${ORDER_CATEGORY}-${orderId}`);
  const books = new OrderBooks();
  for (const event of events) books.add(event);
  const order = books.orders.get(orderId);
  if (order === undefined) throw new DomainError('not_found', `The log knows no order ${orderId}.`);
  const { facts, status } = order;
  return {
    what: `order ${orderId}`,
    figure: [
      ['amount', `${order.amountFrom} for ${order.amountTo} of ${facts.pair_id}, ${status}`],
      ['by', `key ${facts.key_id}, of merchant ${facts.merchant_id}`],
    ],
    ...(await tell(sources, events)),
    sections: [
      { title: 'quote', rows: quoteOf(order) },
      { title: 'deposits', rows: depositsOf(order) },
      { title: 'outcome', rows: outcomeOf(order) },
    ],
  };
}

function quoteOf({ facts }: BookedOrder): Row[] {
  return [
    ['asked', `${facts.amount_from} for ${facts.amount_to}, at ${facts.rate}`],
    ['limits', `${facts.minimum} to ${facts.maximum}`],
    ['until', inUtc(facts.expires_at)],
    ['provider', `${facts.provider}, reference ${facts.provider_reference}`],
    ['paid to', facts.deposit_address],
  ];
}

function depositsOf({ deposits, late, dust }: BookedOrder): Row[] {
  const rows: Row[] = [
    ...deposits.map((each): Row => ['counted', deposit(each)]),
    ...late.map((each): Row => ['late', deposit(each)]),
    ...(dust === '0' ? [] : [['too small', `${dust} in all`] as const]),
  ];
  return rows.length === 0 ? [['none', 'nothing has come']] : rows;
}

function deposit({
  amount,
  transaction_hash: hash,
  deposited_at: at,
}: BookedOrder['deposits'][number]): string {
  return `${amount}, transaction ${hash}, block of ${inUtc(at)}`;
}

function outcomeOf(order: BookedOrder): Row[] {
  const { status, reason, withdrawTransactionHash: hash, refunded, amountTo } = order;
  return [
    ['status', reason === null ? status : `${status}: ${reason}`],
    ...(hash === null ? [] : [['paid out', `${amountTo}, transaction ${hash}`] as const]),
    ['refundable', `${owedOf(order)}, late deposits included; ${refunded} refunded so far`],
  ];
}

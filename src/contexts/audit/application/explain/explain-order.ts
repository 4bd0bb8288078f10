import { fold } from '../../../../kernel/aggregate.js';
import { sum } from '../../../../kernel/decimal.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import {
  order,
  amountRefundable,
  type DepositFacts,
  type ExistingOrder,
  type OrderEvent,
} from '../../../exchange/contract.js';
import { inUtc } from '../../domain/words.js';
import { idOf } from '../user-history.js';
import { own, tell, type Explanation, type Row, type Sources } from './explanation.js';

/** An exchange order from the call that made it to its outcome. Throws DomainError `not_found`. */
export async function explainOrder(sources: Sources, id: string): Promise<Explanation> {
  const orderId = idOf('order', id);
  const events = await own(sources.log, `${order.category}-${orderId}`);
  const state = fold(order, events as unknown as readonly OrderEvent[]);
  if (state.status === 'none') throw new DomainError('not_found', `The log knows no order ${orderId}.`);
  const { facts, status } = state;
  return {
    what: `order ${orderId}`,
    figure: [
      ['amount', `${state.amountFrom} for ${state.amountTo} of ${facts.pair_id}, ${status}`],
      ['by', `key ${facts.key_id}, of merchant ${facts.merchant_id}`],
    ],
    ...(await tell(sources, events)),
    sections: [
      { title: 'quote', rows: quoteOf(state) },
      { title: 'deposits', rows: depositsOf(state) },
      { title: 'outcome', rows: outcomeOf(state) },
    ],
  };
}

function quoteOf({ facts }: ExistingOrder): Row[] {
  return [
    ['asked', `${facts.amount_from} for ${facts.amount_to}, at ${facts.rate}`],
    ['limits', `${facts.minimum} to ${facts.maximum}`],
    ['until', inUtc(facts.expires_at)],
    ['provider', `${facts.provider}, reference ${facts.provider_reference}`],
    ['paid to', facts.deposit_address],
  ];
}

function depositsOf({ deposits, lateDeposits, dust }: ExistingOrder): Row[] {
  const rows: Row[] = [
    ...deposits.map((each): Row => ['counted', deposit(each)]),
    ...lateDeposits.map((each): Row => ['late', deposit(each)]),
    ...(dust.amount === '0' ? [] : [['too small', `${dust.amount} in all`] as const]),
  ];
  return rows.length === 0 ? [['none', 'nothing has come']] : rows;
}

function deposit({ amount, transaction_hash: hash, deposited_at: at }: DepositFacts): string {
  return `${amount}, transaction ${hash}, block of ${inUtc(at)}`;
}

function outcomeOf(state: ExistingOrder): Row[] {
  const { status, reason, withdrawTransactionHash: hash, refunds, amountTo } = state;
  const refunded = sum(refunds.map(({ amount }) => amount));
  return [
    ['status', reason === null ? status : `${status}: ${reason}`],
    ...(hash === null ? [] : [['paid out', `${amountTo}, transaction ${hash}`] as const]),
    ['refundable', `${amountRefundable(state)}, late deposits included; ${refunded} refunded so far`],
  ];
}

import { fold } from '../../../kernel/aggregate.js';
import { sum } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { amountRefundable, order, type OrderEvent } from '../../exchange/contract.js';
import {
  comparableHash,
  PAYOUT_CATEGORY,
  type PayoutReceived,
  type PayoutReported,
} from '../../payouts/contract.js';
import { Account } from '../domain/account.js';
import {
  bareName,
  eventsOfStream,
  inUtc,
  withCauses,
  type ExplainedBalance,
  type Explanation,
  type Row,
  type Section,
  type Sources,
} from './causes.js';
import { deliveriesOf } from './explain-delivery.js';
import { requireId, historyOfUser, type HistoryOptions } from './user-history.js';

/** A payout from the merchant's report to the chain and back. Throws DomainError `not_found`. */
export async function explainPayout(sources: Sources, id: string): Promise<Explanation> {
  const payoutId = requireId('payout', id);
  const events = await eventsOfStream(sources.log, `${PAYOUT_CATEGORY}-${payoutId}`);
  const [first] = events;
  if (first === undefined) throw new DomainError('not_found', `The log knows no payout ${payoutId}.`);
  const facts = (first as RecordedEvent & PayoutReported).data;
  const received = events.find(({ type }) => type.startsWith('payout.received.'));
  const last = events.at(-1)!;
  const status = last === first ? 'pending' : bareName(last.type).split('.').at(-1)!;
  return {
    what: `payout ${payoutId}`,
    figure: [
      ['amount', `${facts.amount} USDC, ${status}`],
      ['to', `user ${facts.user_id}, of merchant ${facts.merchant_id}`],
    ],
    ...(await withCauses(sources, events)),
    sections: [
      ...(received === undefined ? [] : [await evidence(sources, payoutId, received)]),
      await deliveriesOf(sources, facts.merchant_id, events.slice(1)),
    ],
  };
}

/** An exchange order from the request that created it to its outcome. Throws DomainError `not_found`. */
export async function explainOrder(sources: Sources, id: string): Promise<Explanation> {
  const orderId = requireId('order', id);
  const events = await eventsOfStream(sources.log, `${order.category}-${orderId}`);
  const state = fold(order, events as readonly (RecordedEvent & OrderEvent)[]);
  if (state.status === 'none') throw new DomainError('not_found', `The log knows no order ${orderId}.`);
  const { facts, status, amountFrom, amountTo } = state;
  const refunded = sum(state.refunds.map(({ amount }) => amount));
  return {
    what: `order ${orderId}`,
    figure: [
      ['amount', `${amountFrom} for ${amountTo} of ${facts.pair_id}, ${status}`],
      ['by', `key ${facts.key_id}, of merchant ${facts.merchant_id}`],
      ['refundable', `${amountRefundable(state)}, late deposits included; ${refunded} refunded so far`],
    ],
    ...(await withCauses(sources, events)),
    sections: [await deliveriesOf(sources, facts.merchant_id, events.slice(1))],
  };
}

/** Every event that moved a balance. Throws as {@link historyOfUser} does. */
export async function explainBalance(
  sources: Sources,
  id: string,
  options: HistoryOptions,
): Promise<ExplainedBalance> {
  const history = await historyOfUser(sources.log, sources.payouts, id, options);
  const account = new Account();
  const moving = history.events.filter(({ type }) => type.startsWith('payout.'));
  const after = moving.map((event) => {
    account.add(event);
    return account.figures;
  });
  const { confirmed, pending, committed } = account.figures;
  return {
    what: `balance ${history.userId}`,
    figure: [
      ['confirmed', `${confirmed} USDC`],
      ['pending', `${pending} USDC`],
      ['committed', `${committed} USDC`],
      ['at', `position ${history.position}, ${history.read} events read`],
      ['user', `${history.userId}, of merchant ${history.merchantId}`],
    ],
    ...(await withCauses(sources, moving)),
    sections: [],
    after,
  };
}

async function evidence(
  { log, payouts }: Sources,
  payoutId: string,
  received: RecordedEvent,
): Promise<Section> {
  const { data: seen } = received as RecordedEvent & PayoutReceived;
  const hash = comparableHash(seen.transaction_hash);
  const [claim] = await log.readStream(`transfer-${seen.chain_id}_${hash}_${seen.log_index}`);
  const owner = claim?.data['owner'];
  const claimant =
    owner === `${PAYOUT_CATEGORY}-${payoutId}`
      ? 'by this payout alone'
      : `NOT by it, but by ${String(owner)}`;
  const receipt = await payouts.receipt(seen.receipt_sha256);
  const rows: Row[] = [
    ['chain', `${seen.chain_id}, transaction ${hash}, log ${seen.log_index}`],
    ['block', `${seen.block_number}, ${seen.block_hash}, ${inUtc(seen.block_time)}`],
    ['from, to', `${seen.from}, ${seen.to}`],
    ['token', `${seen.token}, raw value ${seen.value}`],
    ['confirmations', `${seen.confirmations}, when it was received`],
    ['receipt', `SHA-256 ${seen.receipt_sha256}`],
    [
      '',
      receipt === null
        ? 'its bytes are not kept'
        : `${receipt.bytes} bytes are kept, and ${receipt.intact ? 'have' : 'DO NOT have'} this hash`,
    ],
    ['claimed', claim === undefined ? 'NOT at all' : `${claimant}, at position ${claim.position}`],
  ];
  return { title: 'evidence of the transfer', rows };
}

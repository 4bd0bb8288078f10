import { CommandBus } from '@nestjs/cqrs';
import { streamOf } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { isUuid } from '../../../kernel/ids.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { defineOperation, type Get } from '../../../platform/operations/operation-definition.js';
import { readTransactionId } from '../domain/addresses.js';
import { pairOf } from '../domain/catalog.js';
import { eraseOrder, existingOrder, order, recordRefund, type ExistingOrder } from '../domain/order.js';
import { OrdersView } from '../views/orders.js';
import { EraseOrder } from './erase-order.js';
import { RecordRefund } from './record-refund.js';

/** Of an order's stream, with which nothing is decided. */
async function orderOf(get: Get, orderId: string): Promise<ExistingOrder> {
  return existingOrder((await get<CommandLoop>(CommandLoop).load(order, orderId)).state);
}

const NEVER_WRITTEN = { actor: 'none', at: new Date(0).toISOString() };

interface RefundParameters {
  readonly amount: string;
  readonly transaction_hash: string;
  /** Null: one of the addresses that paid. */
  readonly recipient: string | null;
}

/** A refund that an operator sent; whether the chain has it is checked when it is recorded. */
const recordRefundOperation = defineOperation<RefundParameters>({
  name: 'orders.record_refund',
  scope: 'orders:write',
  subject: 'order',
  streams: (id) => [streamOf(order, id)],
  secondPerson: 'before',
  /** Throws `not_found`, `validation_failed`, and `invalid_transition` for more than is refundable. */
  async check({ amount, transaction_hash }, get, id) {
    const state = await orderOf(get, id);
    const hash = readTransactionId(pairOf(state.facts.pair_id)!.from.chain, transaction_hash);
    if (hash instanceof Fault) throw DomainError.invalid({ transaction_hash: [hash.message] });
    recordRefund({ amount, transactionHash: hash, ...NEVER_WRITTEN }, state);
  },
  async execute({ subjectId, actor, parameters }, get) {
    const { amount, transaction_hash: transactionHash, recipient } = parameters;
    const command = new RecordRefund(subjectId, { amount, transactionHash, actor }, recipient);
    const { unchecked } = await get<CommandBus>(CommandBus).execute(command);
    return { unchecked };
  },
});

/**
 * Who orders were for is forgotten. The subject is one order, by its id, or all orders of a user: then it is the keyed hash
 * of the user (`OrdersView.userHash`), and `api_key` the key that created them. Orders that have not ended are left out.
 */
const eraseOrderUser = defineOperation<{ readonly api_key: string | null }>({
  name: 'orders.erase_user',
  scope: 'orders:write',
  subject: 'order',
  streams: (id) => (isUuid(id) ? [streamOf(order, id)] : []),
  secondPerson: 'before',
  /** Throws `not_found`, and `invalid_transition` for one order that has not ended. */
  async check(_, get, id) {
    if (isUuid(id)) eraseOrder(NEVER_WRITTEN, await orderOf(get, id));
  },
  async execute({ subjectId, actor, parameters }, get) {
    const bus = get<CommandBus>(CommandBus);
    if (isUuid(subjectId))
      return {
        erased: [subjectId],
        not_ended: [],
        position: await bus.execute(new EraseOrder(subjectId, actor)),
      };
    const ids = await get<OrdersView>(OrdersView).ofUserHash(parameters.api_key!, subjectId);
    const erased: string[] = [];
    const notEnded: string[] = [];
    let position: string | null = null;
    for (const id of ids)
      try {
        position = (await bus.execute(new EraseOrder(id, actor))) ?? position;
        erased.push(id);
      } catch (error) {
        if (!(error instanceof DomainError && error.code === 'invalid_transition')) throw error;
        notEnded.push(id);
      }
    return { erased, not_ended: notEnded, position };
  },
});

export const ORDER_OPERATIONS = [recordRefundOperation, eraseOrderUser];

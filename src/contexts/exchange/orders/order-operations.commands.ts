import { Inject } from '@nestjs/common';
import { CommandHandler } from '@nestjs/cqrs';
import { toStream } from '../../../kernel/aggregate.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { isUuid } from '../../../kernel/ids.js';
import { claimOwner, claimStream } from '../../../platform/event-store/claims.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ClaimHeld, type Claim } from '../../../platform/event-store/command-loop-types.js';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import { ResponseStore } from '../../../platform/idempotency/response-store.js';
import { Operation, OperatorCommand, type OperationHandler } from '../../../platform/operations/operation.js';
import {
  subscriptionName,
  subscriptionOf,
  type SubscriptionDefinition,
} from '../../../platform/projections/projection.js';
import { PersonalKeys } from '../../../platform/sealing/personal-keys.js';
import { readTransactionId } from './addresses.js';
import { pairOf } from '../tokens/catalog.js';
import { eraseOrder, existingOrder, order, recordRefund, transitionError } from './order.js';
import type { OrderEventOf } from './order-events.js';
import { OrdersView } from './orders.view.js';
import { OrderTransfers } from './order-transfers.service.js';

const ORDER = {
  scope: 'orders:write',
  subject: 'order',
  streams: (id: string) => (isUuid(id) ? [toStream(order, id)] : []),
  secondPerson: 'before',
} as const;

export interface ErasedOrders {
  readonly erased: readonly string[];
  readonly not_ended: readonly string[];
  /** The log position of the last event of these erasures; null without an event. */
  readonly position: string | null;
}

/**
 * Erases personal data of orders (contract.md 23.7). The subject is an order id or, with `api_key`, a user's
 * `OrdersView.userHash`. Throws `not_found`, and `invalid_transition` for a single order that has not ended.
 */
@Operation({ ...ORDER, name: 'orders.erase_user' })
export class EraseOrderUser extends OperatorCommand<{ readonly api_key: string | null }, ErasedOrders> {}

@CommandHandler(EraseOrderUser)
export class EraseOrderUserHandler implements OperationHandler<EraseOrderUser> {
  constructor(
    private readonly loop: CommandLoop,
    private readonly orders: OrdersView,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async check({ subjectId: id }: EraseOrderUser): Promise<void> {
    if (!isUuid(id)) return;
    const { state } = await this.loop.load(order, id);
    eraseOrder({ actor: '', at: timestamp(this.clock) }, existingOrder(state));
  }

  async execute({ subjectId, operation, parameters }: EraseOrderUser): Promise<ErasedOrders> {
    const isOne = isUuid(subjectId);
    const ids = isOne ? [subjectId] : await this.orders.ofUserHash(parameters.api_key!, subjectId);
    const erased: string[] = [];
    const not_ended: string[] = [];
    let position: string | null = null;
    for (const id of ids)
      try {
        position = (await this.erase(id, operation!.actor)) ?? position;
        erased.push(id);
      } catch (error) {
        if (isOne || !(error instanceof DomainError && error.code === 'invalid_transition')) throw error;
        not_ended.push(id);
      }
    return { erased, not_ended, position };
  }

  private async erase(orderId: string, actor: string): Promise<string | null> {
    const command = { actor, at: timestamp(this.clock) };
    const { position } = await this.loop.execute(
      order,
      orderId,
      (state) => eraseOrder(command, existingOrder(state)),
      { metadata: { actor: 'operator' } },
    );
    failpoint('order.erasure_recorded');
    return position;
  }
}

export const ERASING_ORDERS = subscriptionName('exchange.erasing');

/** Drops the sealing keys of erased orders and stored responses that name these orders. May be repeated. */
export function erasingOrders(
  keys: Pick<PersonalKeys, 'forget'>,
  responses: Pick<ResponseStore, 'drop'>,
): SubscriptionDefinition {
  return subscriptionOf<OrderEventOf<'order.personal_data_erased.v1'>>({
    name: ERASING_ORDERS,
    events: ['order.personal_data_erased.v1'],
    async apply(events, tx) {
      await keys.forget(...events.map(({ data }) => data.order_id));
      failpoint('order.key_dropped');
      // The search through a month of responses may keep this transaction idle longer than the timeouts.
      await tx.query('set local idle_in_transaction_session_timeout = 0; set local transaction_timeout = 0');
      for (const scope of new Set(events.map(({ data }) => data.key_id))) {
        const named = events.flatMap(({ data }) => (data.key_id === scope ? [data.order_id] : []));
        await responses.drop({ named, scope, since: new Date(0).toISOString() });
      }
      failpoint('order.responses_dropped');
    },
  });
}

/** Returns the claim of a transfer, a whole transaction, or a transaction divided into transfers. */
function refundClaim(key: string): Claim {
  return { category: 'refund', key, field: 'transaction', message: 'is the refund of another order' };
}

/** The field `unchecked` is the reason why the transfer was not checked on its chain, or null. */
export type RefundResult = { readonly unchecked: string | null };

interface RefundParameters {
  readonly amount: string;
  readonly transaction_hash: string;
  /** The address that was refunded; null accepts any address that paid the order. */
  readonly recipient: string | null;
}

/**
 * Records a refund by an operator (contract.md 23.6). Throws `not_found`, `validation_failed`, `unavailable`,
 * and `invalid_transition` if the amount is not refundable or the transaction does not contain the refund.
 */
@Operation({ ...ORDER, name: 'orders.record_refund' })
export class RecordRefund extends OperatorCommand<RefundParameters, RefundResult> {}

@CommandHandler(RecordRefund)
export class RecordRefundHandler implements OperationHandler<RecordRefund> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly transfers: OrderTransfers,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  /** Checks the refund, but not its transaction on the chain, which only `execute` checks. */
  async check(command: RecordRefund): Promise<void> {
    await this.decide(command);
  }

  async execute(command: RecordRefund): Promise<RefundResult> {
    const { subjectId: orderId, parameters } = command;
    const { before, given, isNew } = await this.decide(command);
    if (!isNew) return { unchecked: null };
    const { recipient } = parameters;
    const { unchecked, logIndexes } = await this.transfers.checkRefund(before, { ...given, recipient });
    const transaction = `${pairOf(before.pair_id)!.from.chain}_${given.transaction_hash}`;
    const [whole, divided] = [refundClaim(transaction), refundClaim(`${transaction}_transfers`)];
    // One transaction may refund several orders, each by another transfer: the first refund claims it as
    // divided. An unchecked transfer is unknown, so the order claims the whole transaction.
    const transfers = logIndexes.map((index) => refundClaim(`${transaction}_${index}`));
    const [attempts, excluded] =
      unchecked === null
        ? [transfers.flatMap((transfer) => [[transfer, divided], [transfer]]), whole]
        : [[[whole]], divided];
    let owner = '';
    for (const claims of attempts)
      try {
        await this.loop.execute(order, orderId, (current) => recordRefund(given, current), {
          metadata: { actor: 'operator' },
          claims,
          // Runs before any claim, because a non-atomic store would keep the claims of a refused refund.
          preconditions: async () => {
            const other = await claimOwner(this.store, excluded);
            if (other !== null) throw alreadyRecorded(other);
            return [{ stream: claimStream(excluded), events: [], expected: 'no_stream' }];
          },
        });
        return { unchecked };
      } catch (error) {
        if (!(error instanceof ClaimHeld)) throw error;
        owner = error.owner;
      }
    throw alreadyRecorded(owner);
  }

  private async decide({ subjectId, parameters, operation }: RecordRefund) {
    const { amount, transaction_hash } = parameters;
    const before = existingOrder((await this.loop.load(order, subjectId)).state);
    const hash = readTransactionId(pairOf(before.pair_id)!.from.chain, transaction_hash);
    if (hash instanceof Fault) throw DomainError.invalid({ transaction_hash: [hash.message] });
    const actor = operation?.actor ?? '';
    const given = { amount, transaction_hash: hash, actor, at: timestamp(this.clock) };
    return { before, given, isNew: recordRefund(given, before).length > 0 };
  }
}

function alreadyRecorded(owner: string): DomainError {
  return transitionError(`That transaction is recorded as a refund of ${owner}`);
}

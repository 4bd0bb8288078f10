import { Inject } from '@nestjs/common';
import { CommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { claimOwner, claimStream } from '../../../platform/event-store/claims.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ClaimHeld, type Claim } from '../../../platform/event-store/command-loop-types.js';
import { Operation, OperatorCommand, type OperationHandler } from '../../../platform/operations/operation.js';
import { EVENT_STORE, type EventStore } from '../../../platform/event-store/port.js';
import { readTransactionId } from '../domain/addresses.js';
import { existingOrder, order, recordRefund } from '../domain/order.js';
import { pairOf } from '../domain/catalog.js';
import { ORDER } from './erase-order.js';
import { ORDER_TRANSFERS, type OrderTransfers } from './ports.js';

/** Of one transfer, of a whole transaction, or of one of which transfers are claimed alone. */
function claimOf(key: string): Claim {
  return { category: 'refund', key, field: 'transaction', message: 'is the refund of another order' };
}

export interface RecordedRefund {
  /** Why the transfer was not checked on its chain; null when it was. */
  readonly unchecked: string | null;
}

interface RefundParameters {
  readonly amount: string;
  readonly transaction_hash: string;
  /** Null: one of the addresses that paid. */
  readonly recipient: string | null;
}

/**
 * An operator refunded money (contract.md 23.6). Throws `not_found`, or `invalid_transition` for more than is refundable
 * and for a transaction that is not the refund.
 */
@Operation({ ...ORDER, name: 'orders.record_refund', secondPerson: 'before' })
export class RecordRefund extends OperatorCommand<RefundParameters, RecordedRefund> {}

@CommandHandler(RecordRefund)
export class RecordRefundHandler implements OperationHandler<RecordRefund> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(ORDER_TRANSFERS) private readonly transfers: OrderTransfers,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  /** Whether the chain has the refund is checked when it is recorded. */
  async check(command: RecordRefund): Promise<void> {
    await this.decide(command);
  }

  async execute(command: RecordRefund): Promise<RecordedRefund> {
    const { subjectId: orderId, parameters } = command;
    const { before, given, isNew } = await this.decide(command);
    if (!isNew) return { unchecked: null };
    const { recipient } = parameters;
    const { unchecked, logIndexes } = await this.transfers.checkRefund(before, { ...given, recipient });
    const transaction = `${pairOf(before.facts.pair_id)!.from.chain}_${given.transactionHash}`;
    const [whole, divided] = [claimOf(transaction), claimOf(`${transaction}_transfers`)];
    // One transaction may refund several orders, each by another transfer; the first of them divides it.
    // Unchecked, it is unknown which transfer it was: then the whole transaction is the refund of one order.
    const attempts =
      unchecked === null
        ? logIndexes
            .map((index) => claimOf(`${transaction}_${index}`))
            .flatMap((transfer) => [[transfer, divided], [transfer]])
        : [[whole]];
    const excluded = unchecked === null ? whole : divided;
    let owner = '';
    for (const claims of attempts)
      try {
        await this.loop.execute(order, orderId, (current) => recordRefund(given, current), {
          metadata: { actor: 'operator' },
          claims,
          // Before any claim: a store that is not atomic keeps the claims of a refused refund.
          preconditions: async () => {
            await this.requireUnclaimed(excluded);
            return [{ stream: claimStream(excluded), events: [], expected: 'no_stream' }];
          },
        });
        return { unchecked };
      } catch (error) {
        if (!(error instanceof ClaimHeld)) throw error;
        owner = error.owner;
      }
    throw refundOf(owner);
  }

  /** Throws `not_found`, `validation_failed`, and `invalid_transition` for more than is refundable. */
  private async decide({ subjectId, parameters, operation }: RecordRefund) {
    const { amount, transaction_hash } = parameters;
    const before = existingOrder((await this.loop.load(order, subjectId)).state);
    const hash = readTransactionId(pairOf(before.facts.pair_id)!.from.chain, transaction_hash);
    if (hash instanceof Fault) throw DomainError.invalid({ transaction_hash: [hash.message] });
    const actor = operation?.actor ?? '';
    const given = { amount, transactionHash: hash, actor, at: timestamp(this.clock) };
    return { before, given, isNew: recordRefund(given, before).length > 0 };
  }

  private async requireUnclaimed(claim: Claim): Promise<void> {
    const owner = await claimOwner(this.store, claim);
    if (owner !== null) throw refundOf(owner);
  }
}

function refundOf(owner: string): DomainError {
  return new DomainError('invalid_transition', `That transaction is recorded as a refund of ${owner}`);
}

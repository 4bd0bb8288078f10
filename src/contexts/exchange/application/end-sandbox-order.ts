import { createHash } from 'node:crypto';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { isZero } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { observe, type OrderOutcome } from '../domain/observation.js';
import { amountReceived, existingOrder, isOpen, order, type ExistingOrder } from '../domain/order.js';

/** Of an order that a provider cannot exchange. */
const REASON = 'no_liquidity';
const SANDBOX = 'sandbox';

/**
 * Ends an open order of the sandbox's provider as if that had: it failed, and what was received is refundable, or that is
 * refunded. One that has ended so stays. Only in the sandbox. Throws `not_found`, and `invalid_transition` for one that is
 * processing or has ended otherwise, and for a refund of nothing.
 */
export class EndSandboxOrder extends Command<ExistingOrder> {
  constructor(
    readonly merchantId: string,
    readonly orderId: string,
    readonly outcome: 'failed' | 'refunded',
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(EndSandboxOrder)
export class EndSandboxOrderHandler implements ICommandHandler<EndSandboxOrder> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ merchantId, orderId, outcome, cause }: EndSandboxOrder): Promise<ExistingOrder> {
    const ended = {
      deposits: [],
      isDepositPending: false,
      completeUntil: null,
      outcome: outcomeOf(outcome, orderId),
      at: timestamp(this.clock),
    } as const;
    const { state } = await this.loop.execute(
      order,
      orderId,
      (current) => {
        const found = existingOrder(current);
        if (found.facts.merchant_id !== merchantId) throw DomainError.notFound('Order');
        if (found.status === outcome) return [];
        if (found.facts.provider !== SANDBOX)
          throw refused('The order is not at the provider of the sandbox');
        // One that is processing may be paid out already.
        if (!isOpen(found)) throw refused(`The order is ${found.status}`);
        if (outcome === 'refunded' && isZero(amountReceived(found)))
          throw refused('The order has received nothing to refund');
        return observe(ended, found);
      },
      { metadata: cause },
    );
    return existingOrder(state);
  }
}

/** The transaction of a refund has the form of one, like the payouts of the sandbox's provider, and is none. */
function outcomeOf(kind: 'failed' | 'refunded', orderId: string): OrderOutcome {
  if (kind === 'failed') return { kind, reason: REASON };
  const digest = createHash('sha256').update(`sandbox refund ${orderId}`).digest('hex');
  return { kind, transactionHash: `0x${digest}` };
}

function refused(message: string): DomainError {
  return new DomainError('invalid_transition', message);
}

import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { observe } from '../domain/observation.js';
import { existingOrder, isOpen, order, type ExistingOrder } from '../domain/order.js';

/** Of an order that a provider cannot exchange. */
const REASON = 'no_liquidity';
const SANDBOX = 'sandbox';

/**
 * Fails an open order of the sandbox's provider as if that had: what was received is refundable. One that has failed stays so.
 * Only in the sandbox. Throws `not_found`, and `invalid_transition` for one that is processing or has ended otherwise.
 */
export class FailSandboxOrder extends Command<ExistingOrder> {
  constructor(
    readonly merchantId: string,
    readonly orderId: string,
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(FailSandboxOrder)
export class FailSandboxOrderHandler implements ICommandHandler<FailSandboxOrder> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ merchantId, orderId, cause }: FailSandboxOrder): Promise<ExistingOrder> {
    const failed = {
      deposits: [],
      isDepositPending: false,
      completeUntil: null,
      outcome: { kind: 'failed', reason: REASON },
      at: timestamp(this.clock),
    } as const;
    const { state } = await this.loop.execute(
      order,
      orderId,
      (current) => {
        const found = existingOrder(current);
        if (found.facts.merchant_id !== merchantId) throw DomainError.notFound('Order');
        if (found.status === 'failed') return [];
        if (found.facts.provider !== SANDBOX)
          throw new DomainError('invalid_transition', 'The order is not at the provider of the sandbox');
        // One that is processing may be paid out already.
        if (!isOpen(found)) throw new DomainError('invalid_transition', `The order is ${found.status}`);
        return observe(failed, found);
      },
      { metadata: cause },
    );
    return existingOrder(state);
  }
}

import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { expire, payout } from '../domain/payout.js';
import { expiryReason } from '../domain/verification.js';

/**
 * Ends the window of a pending payout now, as if its transfer had not been found. One that is expired stays so. Only in the
 * sandbox. Throws `not_found`, and `invalid_transition` for one that is received.
 */
export class ExpireSandboxPayout extends Command<void> {
  constructor(
    readonly merchantId: string,
    readonly payoutId: string,
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

@CommandHandler(ExpireSandboxPayout)
export class ExpireSandboxPayoutHandler implements ICommandHandler<ExpireSandboxPayout> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ merchantId, payoutId, cause }: ExpireSandboxPayout): Promise<void> {
    const command = {
      reason: expiryReason({ kind: 'not_found' }),
      at: timestamp(this.clock),
      early: true,
    } as const;
    await this.loop.execute(
      payout,
      payoutId,
      (state) => {
        if (state.status === 'unreported' || state.facts.merchant_id !== merchantId)
          throw DomainError.notFound('Payout');
        if (state.status === 'received')
          throw new DomainError('invalid_transition', 'The payout is received');
        return expire(command, state);
      },
      { metadata: cause },
    );
  }
}

import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { retryCard } from '../domain/decisions.js';
import { onboarding, type Onboarding } from '../domain/onboarding.js';

/** The user, or an operator, asks once more for a card that failed. Throws `not_found`, `invalid_transition` or `rate_limited`. */
export class RetryCard extends Command<Onboarding> {
  constructor(
    readonly userId: string,
    readonly cause: EventMetadata = { actor: 'operator' },
  ) {
    super();
  }
}

@CommandHandler(RetryCard)
export class RetryCardHandler implements ICommandHandler<RetryCard> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ userId, cause }: RetryCard): Promise<Onboarding> {
    const at = timestamp(this.clock);
    return (
      await this.loop.execute(onboarding, userId, (state) => retryCard({ at }, state), { metadata: cause })
    ).state;
  }
}

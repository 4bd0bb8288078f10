import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { completeDeactivation } from '../domain/leaving.js';
import { user } from '../domain/user.js';
import type { UserChanged } from './start-deactivation.js';

/**
 * deactivating to deactivated, once no payout of the user is pending. `pendingPayouts` is null while they are not
 * counted. Throws `not_found`, `invalid_transition`, or `unavailable` while they are not counted.
 */
export class CompleteDeactivation extends Command<UserChanged> {
  constructor(
    readonly userId: string,
    readonly pendingPayouts: number | null,
  ) {
    super();
  }
}

@CommandHandler(CompleteDeactivation)
export class CompleteDeactivationHandler implements ICommandHandler<CompleteDeactivation> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  execute({ userId, pendingPayouts }: CompleteDeactivation): Promise<UserChanged> {
    const at = timestamp(this.clock);
    return this.loop.execute(user, userId, (state) => completeDeactivation({ pendingPayouts, at }, state), {
      metadata: { actor: 'users.deactivation' },
      follows: true,
    });
  }
}

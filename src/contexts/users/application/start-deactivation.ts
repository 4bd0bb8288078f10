import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop, type Executed } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { startDeactivation, user, type User, type UserEvent } from '../domain/user.js';

/** What every command on a user gives. */
export type UserChanged = Executed<User, UserEvent>;

/**
 * onboarding or active to deactivating: no payout is accepted for the user from now on, and the user is deactivated
 * once none is pending. Throws `not_found`, or `invalid_transition` when the user is deactivated.
 */
export class StartDeactivation extends Command<UserChanged> {
  constructor(readonly userId: string) {
    super();
  }
}

@CommandHandler(StartDeactivation)
export class StartDeactivationHandler implements ICommandHandler<StartDeactivation> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ userId }: StartDeactivation): Promise<UserChanged> {
    const at = timestamp(this.clock);
    return this.loop.execute(user, userId, (state) => startDeactivation({ at }, state));
  }
}

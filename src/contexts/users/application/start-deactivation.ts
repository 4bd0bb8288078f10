import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop, type Executed } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { readAct, startDeactivation, type OperatorAct } from '../domain/leaving.js';
import type { UserEvent } from '../domain/user-events.js';
import { user, type User } from '../domain/user.js';

/** What every command on a user gives. */
export type UserChanged = Executed<User, UserEvent>;

/**
 * onboarding or active to deactivating: no payout is accepted for the user from now on, and the user is deactivated
 * once none is pending. One who is deactivating keeps the reason of the first time. Throws `bad_request` for an unfit
 * reason or actor, `not_found`, or `invalid_transition` when the user is deactivated.
 */
export class StartDeactivation extends Command<UserChanged> {
  constructor(
    readonly userId: string,
    readonly act: OperatorAct,
  ) {
    super();
  }
}

@CommandHandler(StartDeactivation)
export class StartDeactivationHandler implements ICommandHandler<StartDeactivation> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ userId, act }: StartDeactivation): Promise<UserChanged> {
    const command = { ...readAct(act), at: timestamp(this.clock) };
    return this.loop.execute(user, userId, (state) => startDeactivation(command, state), {
      metadata: { actor: 'operator' },
    });
  }
}

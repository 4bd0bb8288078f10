import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { failpoint } from '../../../platform/failpoints.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { eraseUser, readAct, type OperatorAct } from '../domain/leaving.js';
import { user } from '../domain/user.js';
import type { UserChanged } from './start-deactivation.js';

/**
 * Forgets a person for good (contract.md 8.10): nobody can read of the user from now on, and what contexts keep of the
 * person is dropped by their workers. Throws `bad_request` for an unfit reason or actor, `not_found`, or
 * `invalid_transition` unless the user is deactivated. One who is erased already stays so.
 */
export class EraseUser extends Command<UserChanged> {
  constructor(
    readonly userId: string,
    readonly act: OperatorAct,
  ) {
    super();
  }
}

@CommandHandler(EraseUser)
export class EraseUserHandler implements ICommandHandler<EraseUser> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ userId, act }: EraseUser): Promise<UserChanged> {
    const command = { ...readAct(act), at: timestamp(this.clock) };
    const changed = await this.loop.execute(user, userId, (state) => eraseUser(command, state), {
      metadata: { actor: 'operator' },
    });
    failpoint('erasure.recorded');
    return changed;
  }
}

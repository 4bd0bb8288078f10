import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../event-store/command-loop.js';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import { activateUser, user } from '../domain/user.js';
import type { UserChanged } from './user-changed.js';

/**
 * onboarding to active, with the wallet (EIP-55 checksummed) that was provisioned; once.
 * Throws `not_found`, or `invalid_transition` when the user is deactivating or deactivated.
 */
export class ActivateUser extends Command<UserChanged> {
  constructor(
    readonly userId: string,
    readonly issuerWalletAddress: string,
  ) {
    super();
  }
}

@CommandHandler(ActivateUser)
export class ActivateUserHandler implements ICommandHandler<ActivateUser> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ userId, issuerWalletAddress }: ActivateUser): Promise<UserChanged> {
    const at = this.clock.now().toISOString();
    return this.loop.execute(user, userId, (state) => activateUser({ issuerWalletAddress, at }, state));
  }
}

import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { ClaimHeld, COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { activateUser, user } from '../domain/user.js';
import type { UserChanged } from './start-deactivation.js';

/**
 * onboarding to active, with the wallet (EIP-55 checksummed) that was provisioned; once.
 * Throws `not_found`, `invalid_transition` when the user is deactivating or deactivated, and `validation_failed` when the
 * wallet is another user's, of whatever merchant: a transfer to it would confirm the payouts of both.
 */
export class ActivateUser extends Command<UserChanged> {
  constructor(
    readonly userId: string,
    readonly issuerWalletAddress: string,
    readonly cause: EventMetadata = {},
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

  async execute({ userId, issuerWalletAddress, cause }: ActivateUser): Promise<UserChanged> {
    const at = timestamp(this.clock);
    const claim = {
      category: 'user_wallet',
      key: issuerWalletAddress.toLowerCase(),
      field: 'issuer_wallet_address',
      message: 'belongs to another user',
    };
    try {
      return await this.loop.execute(
        user,
        userId,
        (state) => activateUser({ issuerWalletAddress, at }, state),
        { metadata: cause, claims: [claim] },
      );
    } catch (error) {
      if (error instanceof ClaimHeld)
        throw DomainError.invalid({ issuer_wallet_address: ['belongs to another user'] });
      throw error;
    }
  }
}

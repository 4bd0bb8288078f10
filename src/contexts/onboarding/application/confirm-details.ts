import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { UsersView } from '../../users/contract.js';
import { confirmDetails, onboarding, type Details, type Onboarding } from '../domain/onboarding.js';
import { findApplicant } from './applicant.js';

/** The user confirms who they are. Throws `not_found` or `invalid_transition`. */
export class ConfirmDetails extends Command<Onboarding> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly details: Details,
  ) {
    super();
  }
}

@CommandHandler(ConfirmDetails)
export class ConfirmDetailsHandler implements ICommandHandler<ConfirmDetails> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly users: UsersView,
  ) {}

  async execute({ merchantId, userId, details }: ConfirmDetails): Promise<Onboarding> {
    await findApplicant(this.users, merchantId, userId);
    const at = timestamp(this.clock);
    const { state } = await this.loop.execute(onboarding, userId, (current) =>
      confirmDetails({ details, at }, current),
    );
    return state;
  }
}

import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { UsersView } from '../../users/contract.js';
import { startOnboarding } from '../domain/decisions.js';
import { onboarding, type Onboarding } from '../domain/onboarding.js';
import { findApplicant } from './applicant.js';

/** The user asks for a code, the first act of a person in the widget. A user who came before goes on where they were. Gives where that is. */
export class StartOnboarding extends Command<Onboarding> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly cause: EventMetadata = {},
  ) {
    super();
  }
}

@CommandHandler(StartOnboarding)
export class StartOnboardingHandler implements ICommandHandler<StartOnboarding> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly users: UsersView,
  ) {}

  async execute({ merchantId, userId, cause }: StartOnboarding): Promise<Onboarding> {
    await findApplicant(this.users, merchantId, userId);
    const at = timestamp(this.clock);
    const { state } = await this.loop.execute(
      onboarding,
      userId,
      (current) => startOnboarding({ userId, merchantId, at }, current),
      { metadata: cause },
    );
    return state;
  }
}

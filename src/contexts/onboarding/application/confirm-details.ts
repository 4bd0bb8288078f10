import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { UsersView } from '../../users/contract.js';
import { confirmDetails } from '../domain/decisions.js';
import { onboarding, type Consent, type Details, type Onboarding } from '../domain/onboarding.js';
import { findApplicant } from './applicant.js';

/** The user agrees to the terms and confirms who they are. Throws `not_found`, `invalid_transition` or `validation_failed`. */
export class ConfirmDetails extends Command<Onboarding> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly details: Details,
    readonly consent: Consent,
    readonly cause: EventMetadata = {},
  ) {
    super();
  }
}

@CommandHandler(ConfirmDetails)
export class ConfirmDetailsHandler implements ICommandHandler<ConfirmDetails> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'onboardingMinimumAge'>,
    private readonly users: UsersView,
  ) {}

  async execute({ merchantId, userId, details, consent, cause }: ConfirmDetails): Promise<Onboarding> {
    await findApplicant(this.users, merchantId, userId);
    const at = timestamp(this.clock);
    const minimumAge = this.config.onboardingMinimumAge;
    const { state } = await this.loop.execute(
      onboarding,
      userId,
      (current) => confirmDetails({ details, consent, minimumAge, at }, current),
      { metadata: cause },
    );
    return state;
  }
}

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
import { PresentTerms } from './present-terms.js';

/**
 * The user agrees to the terms and confirms who they are. Throws `not_found`, `invalid_transition` (also for terms that are
 * not the present ones), `validation_failed`, or `unavailable` where no terms are set.
 */
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
    private readonly terms: PresentTerms,
  ) {}

  async execute({ merchantId, userId, details, consent, cause }: ConfirmDetails): Promise<Onboarding> {
    await findApplicant(this.users, merchantId, userId);
    this.terms.require(consent);
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

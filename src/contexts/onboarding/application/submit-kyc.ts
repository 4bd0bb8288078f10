import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { UsersView } from '../../users/contract.js';
import { submitKyc } from '../domain/decisions.js';
import { onboarding, type Onboarding } from '../domain/onboarding.js';
import { findApplicant } from './applicant.js';

/** The user hands in their identity documents; the service goes on from there. Throws `not_found` or `invalid_transition`. */
export class SubmitKyc extends Command<Onboarding> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly cause: EventMetadata = {},
  ) {
    super();
  }
}

@CommandHandler(SubmitKyc)
export class SubmitKycHandler implements ICommandHandler<SubmitKyc> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly users: UsersView,
  ) {}

  async execute({ merchantId, userId, cause }: SubmitKyc): Promise<Onboarding> {
    await findApplicant(this.users, merchantId, userId);
    const submission = { verificationId: newId(), at: timestamp(this.clock) };
    return (
      await this.loop.execute(onboarding, userId, (current) => submitKyc(submission, current), {
        metadata: cause,
      })
    ).state;
  }
}

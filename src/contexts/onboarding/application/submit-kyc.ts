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
import { Images } from '../store/images.js';
import { findApplicant } from './applicant.js';

/**
 * The user hands in what they uploaded; the service goes on from there. Throws `not_found`, `invalid_transition`,
 * `rate_limited`, or `validation_failed` when an image is missing.
 */
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
    private readonly images: Images,
  ) {}

  async execute({ merchantId, userId, cause }: SubmitKyc): Promise<Onboarding> {
    await findApplicant(this.users, merchantId, userId);
    const { state: seen } = await this.loop.load(onboarding, userId);
    const images = await this.images.kinds(userId);
    const submission = { verificationId: newId(), at: timestamp(this.clock) };
    const { state } = await this.loop.execute(
      onboarding,
      userId,
      // What was there then may have been handed over by now, for a verification that came in between.
      (current) =>
        submitKyc(
          { ...submission, images: verificationOf(current) === verificationOf(seen) ? images : [] },
          current,
        ),
      { metadata: cause },
    );
    return state;
  }
}

function verificationOf(state: Onboarding): string | null {
  return 'verificationId' in state ? state.verificationId : null;
}

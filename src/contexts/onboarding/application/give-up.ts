import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { recordCardFailure, recordKycOutcome } from '../domain/decisions.js';
import { onboarding, type Onboarding, type Stage } from '../domain/onboarding.js';
import type { OnboardingEvent } from '../domain/onboarding-events.js';
import { IDENTITY_VERIFIER, type IdentityVerifier } from './ports.js';

/** For the person, and for the merchant: nobody did anything wrong. */
export const NOT_CHECKED =
  'Your identity could not be checked because of a problem on our side. Please try again.';
export const NOT_ISSUED = 'Your card could not be issued because of a problem on our side. Please try again.';

/**
 * A provider was asked for long enough: the step that it holds up has failed, and may be tried again. Steps without a
 * failed stage stay as they are. Gives the stage that the onboarding is at.
 */
export class GiveUp extends Command<Stage> {
  constructor(readonly userId: string) {
    super();
  }
}

@CommandHandler(GiveUp)
export class GiveUpHandler implements ICommandHandler<GiveUp> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDENTITY_VERIFIER) private readonly identity: IdentityVerifier,
  ) {}

  async execute({ userId }: GiveUp): Promise<Stage> {
    const written = { metadata: { actor: 'onboarding.steps' }, follows: true } as const;
    return (await this.loop.execute(onboarding, userId, (state) => this.decide(state), written)).state.stage;
  }

  private decide(state: Onboarding): OnboardingEvent[] {
    const at = timestamp(this.clock);
    if (state.stage === 'kyc_submitted') {
      const outcome = { passed: false, reason: NOT_CHECKED } as const;
      const { verificationId } = state;
      return recordKycOutcome({ verificationId, provider: this.identity.provider, outcome, at }, state);
    }
    if (state.stage !== 'wallet_provisioned') return [];
    return recordCardFailure({ attempt: state.cardAttempt, reason: NOT_ISSUED, at }, state);
  }
}

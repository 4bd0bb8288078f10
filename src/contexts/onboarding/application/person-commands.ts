import { Inject, Injectable } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { Executed, ExecuteOptions, Loaded } from '../../../platform/event-store/command-loop-types.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import { newId } from '../../../kernel/ids.js';
import { UsersView, type ExistingUser } from '../../users/contract.js';
import { startOnboarding, confirmDetails, submitKyc, retryCard } from '../domain/decisions.js';
import {
  onboarding,
  reached,
  type Consent,
  type Details,
  type Onboarding,
  type OnboardingEvent,
} from '../domain/onboarding.js';
import type { IdentityImage } from '../domain/image-kind.js';
import { Images } from '../store/images.js';
import { PresentTerms } from './present-terms.js';
import { onboardingConfig, type OnboardingConfig } from '../settings.js';

export type Decision = (state: Onboarding, at: string) => OnboardingEvent[];

@Injectable()
export class Onboardings {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly users: UsersView,
  ) {}

  /** Throws `not_found` when the merchant has no such user, and `invalid_transition` for one who is deactivating. */
  async applicant(merchantId: string, userId: string): Promise<ExistingUser> {
    const found = await this.users.find(merchantId, userId);
    if (found === null) throw DomainError.notFound('User');
    if (found.account_state === 'deactivating' || found.account_state === 'deactivated')
      throw new DomainError('invalid_transition', `The user is ${found.account_state}`);
    return found;
  }

  load(userId: string): Promise<Loaded<Onboarding>> {
    return this.loop.load(onboarding, userId);
  }

  execute(
    userId: string,
    decision: Decision,
    options: ExecuteOptions<Onboarding>,
  ): Promise<Executed<Onboarding, OnboardingEvent>> {
    const at = timestamp(this.clock);
    return this.loop.execute(onboarding, userId, (current) => decision(current, at), options);
  }

  /** Throws what {@link applicant} throws. */
  async decide(
    { merchantId, userId, cause }: PersonCommand<unknown>,
    decision: Decision,
  ): Promise<Onboarding> {
    await this.applicant(merchantId, userId);
    return (await this.execute(userId, decision, { metadata: cause })).state;
  }
}

/**
 * A command about a user of the merchant. Throws `not_found`, and `invalid_transition` for a user who is deactivating.
 */
export abstract class PersonCommand<Result = Onboarding> extends Command<Result> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly cause: EventMetadata = {},
  ) {
    super();
  }
}

/** Starts the onboarding, or changes nothing for a user who continues. */
export class StartOnboarding extends PersonCommand {}

@CommandHandler(StartOnboarding)
export class StartOnboardingHandler implements ICommandHandler<StartOnboarding> {
  constructor(private readonly onboardings: Onboardings) {}

  execute(command: StartOnboarding): Promise<Onboarding> {
    const { merchantId: merchant_id, userId: user_id } = command;
    return this.onboardings.decide(command, (state, at) =>
      startOnboarding({ user_id, merchant_id, at }, state),
    );
  }
}

/** Throws `invalid_transition` (also for terms that are not the present ones), `validation_failed`, or `unavailable` without terms. */
export class ConfirmDetails extends PersonCommand {
  constructor(
    merchantId: string,
    userId: string,
    readonly details: Details,
    readonly consent: Consent,
    cause?: EventMetadata,
  ) {
    super(merchantId, userId, cause);
  }
}

@CommandHandler(ConfirmDetails)
export class ConfirmDetailsHandler implements ICommandHandler<ConfirmDetails> {
  constructor(
    private readonly onboardings: Onboardings,
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
    private readonly terms: PresentTerms,
  ) {}

  execute(command: ConfirmDetails): Promise<Onboarding> {
    const { details, consent } = command;
    const minimumAge = this.config.onboardingMinimumAge;
    return this.onboardings.decide(command, (state, at) => {
      this.terms.require(consent);
      return confirmDetails({ details, consent, minimumAge, at }, state);
    });
  }
}

/** Throws `invalid_transition` before the phone is verified, and when the identity is being verified already. */
export class StoreImage extends PersonCommand<void> {
  constructor(
    merchantId: string,
    userId: string,
    readonly image: IdentityImage,
  ) {
    super(merchantId, userId);
  }
}

@CommandHandler(StoreImage)
export class StoreImageHandler implements ICommandHandler<StoreImage> {
  constructor(
    private readonly onboardings: Onboardings,
    private readonly images: Images,
  ) {}

  async execute({ merchantId, userId, image }: StoreImage): Promise<void> {
    await this.onboardings.applicant(merchantId, userId);
    const { state } = await this.onboardings.load(userId);
    if (!reached(state, 'phone_verified'))
      throw new DomainError('invalid_transition', 'The phone number comes first');
    if (reached(state, 'kyc_submitted'))
      throw new DomainError('invalid_transition', 'The identity is being verified already');
    await this.images.keep(userId, image);
    failpoint('onboarding.image_stored');
  }
}

/** Throws `invalid_transition`, `rate_limited`, or `validation_failed` when an image is missing. */
export class SubmitKyc extends PersonCommand {}

@CommandHandler(SubmitKyc)
export class SubmitKycHandler implements ICommandHandler<SubmitKyc> {
  constructor(
    private readonly onboardings: Onboardings,
    private readonly images: Images,
  ) {}

  async execute(command: SubmitKyc): Promise<Onboarding> {
    const { state: seen } = await this.onboardings.load(command.userId);
    const stored = await this.images.kinds(command.userId);
    const verification_id = newId();
    return this.onboardings.decide(command, (state, at) => {
      // Images from before a concurrent verification may be deleted by now.
      const images = toVerification(state) === toVerification(seen) ? stored : [];
      return submitKyc({ verification_id, images, at }, state);
    });
  }
}

function toVerification(state: Onboarding): string | null {
  return 'verification_id' in state ? state.verification_id : null;
}

/** Throws `invalid_transition` or `rate_limited`. */
export class RetryCard extends PersonCommand {}

@CommandHandler(RetryCard)
export class RetryCardHandler implements ICommandHandler<RetryCard> {
  constructor(private readonly onboardings: Onboardings) {}

  execute(command: RetryCard): Promise<Onboarding> {
    return this.onboardings.decide(command, (state, at) => retryCard({ at }, state));
  }
}

import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import { newId } from '../../../kernel/ids.js';
import { startOnboarding, confirmDetails, submitKyc, retryCard } from '../domain/decisions.js';
import { reached, type Onboarding, type Consent, type Details } from '../domain/onboarding.js';
import type { IdentityImage } from '../domain/image-kind.js';
import { Images } from '../store/images.js';
import { Onboardings } from './onboardings.js';
import { PresentTerms } from './present-terms.js';
import { onboardingConfig, type OnboardingConfig } from '../settings.js';

/** Starts the onboarding, or changes nothing for a user who continues. */
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
  constructor(private readonly onboardings: Onboardings) {}

  async execute({ merchantId, userId, cause }: StartOnboarding): Promise<Onboarding> {
    await this.onboardings.applicant({ merchantId, userId });
    return this.onboardings.decide(userId, cause, (state, at) =>
      startOnboarding({ userId, merchantId, at }, state),
    );
  }
}

/**
 * Throws `not_found`, `invalid_transition` (also for terms that are not the present ones), `validation_failed`, or
 * `unavailable` where no terms are set.
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
    private readonly onboardings: Onboardings,
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
    private readonly terms: PresentTerms,
  ) {}

  async execute({ merchantId, userId, details, consent, cause }: ConfirmDetails): Promise<Onboarding> {
    await this.onboardings.applicant({ merchantId, userId });
    this.terms.require(consent);
    const minimumAge = this.config.onboardingMinimumAge;
    return this.onboardings.decide(userId, cause, (state, at) =>
      confirmDetails({ details, consent, minimumAge, at }, state),
    );
  }
}

/** Throws `not_found`, or `invalid_transition` when the identity is being verified already. */
export class StoreImage extends Command<void> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
    readonly image: IdentityImage,
  ) {
    super();
  }
}

@CommandHandler(StoreImage)
export class StoreImageHandler implements ICommandHandler<StoreImage> {
  constructor(
    private readonly onboardings: Onboardings,
    private readonly images: Images,
  ) {}

  async execute({ merchantId, userId, image }: StoreImage): Promise<void> {
    await this.onboardings.applicant({ merchantId, userId });
    const { state } = await this.onboardings.load(userId);
    if (!reached(state, 'phone_verified'))
      throw new DomainError('invalid_transition', 'The phone number comes first');
    if (reached(state, 'kyc_submitted'))
      throw new DomainError('invalid_transition', 'The identity is being verified already');
    await this.images.keep(userId, image);
    failpoint('onboarding.image_stored');
  }
}

/** Throws `not_found`, `invalid_transition`, `rate_limited`, or `validation_failed` when an image is missing. */
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
    private readonly onboardings: Onboardings,
    private readonly images: Images,
  ) {}

  async execute({ merchantId, userId, cause }: SubmitKyc): Promise<Onboarding> {
    await this.onboardings.applicant({ merchantId, userId });
    const { state: seen } = await this.onboardings.load(userId);
    const stored = await this.images.kinds(userId);
    const verificationId = newId();
    return this.onboardings.decide(userId, cause, (state, at) => {
      // Images from before a concurrent verification may be deleted by now.
      const images = verificationOf(state) === verificationOf(seen) ? stored : [];
      return submitKyc({ verificationId, images, at }, state);
    });
  }
}

function verificationOf(state: Onboarding): string | null {
  return 'verificationId' in state ? state.verificationId : null;
}

/** Throws `not_found`, `invalid_transition` or `rate_limited`. */
export class RetryCard extends Command<Onboarding> {
  constructor(
    readonly userId: string,
    readonly cause: EventMetadata = { actor: 'operator' },
  ) {
    super();
  }
}

@CommandHandler(RetryCard)
export class RetryCardHandler implements ICommandHandler<RetryCard> {
  constructor(private readonly onboardings: Onboardings) {}

  execute({ userId, cause }: RetryCard): Promise<Onboarding> {
    return this.onboardings.decide(userId, cause, (state, at) => retryCard({ at }, state));
  }
}

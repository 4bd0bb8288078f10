import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { failpoint } from '../../../platform/failpoints.js';
import { newId } from '../../../kernel/ids.js';
import { UsersView, type ExistingUser } from '../../users/contract.js';
import { startOnboarding, confirmDetails, submitKyc, retryCard } from '../domain/decisions.js';
import { onboarding, reached, type Onboarding, type Consent, type Details } from '../domain/onboarding.js';
import type { IdentityImage } from '../domain/image-kind.js';
import { Images } from '../store/images.js';
import { PresentTerms } from './present-terms.js';

/** Throws `not_found` when the merchant has no such user, and `invalid_transition` for one who is deactivating. */
export async function findApplicant(
  users: UsersView,
  merchantId: string,
  userId: string,
): Promise<ExistingUser> {
  const found = await users.find(merchantId, userId);
  if (found === null) throw DomainError.notFound('User');
  if (found.accountState === 'deactivating' || found.accountState === 'deactivated') {
    throw new DomainError('invalid_transition', `The user is ${found.accountState}`);
  }
  return found;
}

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
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    private readonly users: UsersView,
    private readonly images: Images,
  ) {}

  async execute({ merchantId, userId, image }: StoreImage): Promise<void> {
    await findApplicant(this.users, merchantId, userId);
    const { state } = await this.loop.load(onboarding, userId);
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
      // Images from before a concurrent verification may be deleted by now.
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
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ userId, cause }: RetryCard): Promise<Onboarding> {
    const at = timestamp(this.clock);
    return (
      await this.loop.execute(onboarding, userId, (state) => retryCard({ at }, state), { metadata: cause })
    ).state;
  }
}

import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { WorkItems } from '../../../platform/work/work-items.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { Stage } from '../domain/onboarding.js';
import { missingImages } from '../domain/image-kind.js';
import { Images } from '../store/images.js';
import type { KycOutcome } from '../domain/decisions.js';
import { SandboxReviews, Verifications } from '../store/verifications.js';
import { Onboardings } from './onboardings.js';
import { RetryCard, SubmitKyc } from './person-commands.js';
import { STEP } from './steps-worker.js';

/**
 * Retries the step that an onboarding waits for now: the poll of a verification under review, the wallet, the card, the
 * activation, a failed card, or a failed identity check whose images are stored. Returns the stage it was at. Throws
 * `not_found`, `rate_limited`, or `invalid_transition` when the next step is the person's, or the user is deactivating.
 */
export class RetryStep extends Command<Stage> {
  constructor(readonly userId: string) {
    super();
  }
}

@CommandHandler(RetryStep)
export class RetryStepHandler implements ICommandHandler<RetryStep> {
  constructor(
    private readonly onboardings: Onboardings,
    private readonly commandBus: CommandBus,
    private readonly items: WorkItems,
    private readonly images: Images,
  ) {}

  async execute({ userId }: RetryStep): Promise<Stage> {
    const { state } = await this.onboardings.load(userId);
    if (state.stage !== 'not_started') await this.onboardings.applicant(state);
    switch (state.stage) {
      case 'not_started':
        throw new DomainError('invalid_transition', 'Nothing to retry: no code was requested yet');
      case 'kyc_submitted':
      case 'kyc_passed':
      case 'wallet_provisioned':
      case 'card_issued':
        await this.items.schedule(STEP, [{ key: userId, state: {} }]);
        break;
      case 'card_failed':
        await this.commandBus.execute(new RetryCard(userId));
        break;
      case 'kyc_failed':
        if (missingImages(await this.images.kinds(userId)).length > 0)
          throw new DomainError(
            'invalid_transition',
            'The images are no longer here: the person takes them again, by the same link as before',
          );
        await this.commandBus.execute(new SubmitKyc(state.merchantId, userId, { actor: 'operator' }));
        break;
      case 'completed':
        throw new DomainError('invalid_transition', 'The onboarding is completed');
      default:
        throw new DomainError(
          'invalid_transition',
          `The next step is the person's: the onboarding is at ${state.stage}`,
        );
    }
    return state.stage;
  }
}

/** Decides an identity that the sandbox keeps under review. Throws `invalid_transition` when none is open. */
export class DecideReview extends Command<void> {
  constructor(
    readonly userId: string,
    readonly outcome: KycOutcome,
  ) {
    super();
  }
}

@CommandHandler(DecideReview)
export class DecideReviewHandler implements ICommandHandler<DecideReview> {
  constructor(
    private readonly reviews: SandboxReviews,
    private readonly verifications: Verifications,
  ) {}

  async execute({ userId, outcome }: DecideReview): Promise<void> {
    const verificationId = await this.reviews.decide(userId, outcome);
    if (verificationId === null)
      throw new DomainError('invalid_transition', 'No identity of this user is under review in the sandbox');
    await this.verifications.pollNow('sandbox', verificationId);
  }
}

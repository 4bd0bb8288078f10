import { Inject } from '@nestjs/common';
import { CommandBus, CommandHandler } from '@nestjs/cqrs';
import { processConfig, type ProcessConfig } from '../../../platform/config/config.js';
import {
  Operation,
  OperatorCommand,
  type EmptyParameters,
  type OperationHandler,
} from '../../../platform/operations/operation.js';
import { WorkItems } from '../../../platform/jobs/work-items.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AUTOMATIC, type Stage } from './onboarding.js';
import { missingImages } from '../identity/image-kind.js';
import { Images } from '../identity/images.store.js';
import { Verifications } from '../identity/verifications.store.js';
import { USER_SUBJECT } from '../../users/users.contract.js';
import en from '../words/en.json' with { type: 'json' };
import { Onboardings, TakeStep } from './onboardings.commands.js';
import { STEP } from './steps.processor.js';

const OPERATOR = { actor: 'operator' };

export const REVIEW_DECISIONS = ['approve', 'reject'] as const;

export interface ReviewDecision {
  readonly decision: (typeof REVIEW_DECISIONS)[number];
}

/**
 * Retries the pending or failed step now and returns its stage. Throws `not_found`, `rate_limited`, or
 * `invalid_transition` if the next step is the person's or the user is deactivating.
 */
@Operation({ ...USER_SUBJECT, name: 'users.retry' })
export class RetryStep extends OperatorCommand<EmptyParameters, { readonly stage: Stage }> {}

@CommandHandler(RetryStep)
export class RetryStepHandler implements OperationHandler<RetryStep> {
  constructor(
    private readonly onboardings: Onboardings,
    private readonly commandBus: CommandBus,
    private readonly items: WorkItems,
    private readonly images: Images,
  ) {}

  async execute({ subjectId: userId }: RetryStep): Promise<{ readonly stage: Stage }> {
    const { state } = await this.onboardings.load(userId);
    if (state.stage === 'not_started') throw refused('Nothing to retry: no code was requested yet');
    const { stage, merchant_id: merchantId } = state;
    await this.onboardings.applicant(merchantId, userId);
    const take = (name: 'retry_card' | 'submit_identity') =>
      this.commandBus.execute(new TakeStep(merchantId, userId, { name }, OPERATOR));
    if (AUTOMATIC.includes(stage)) await this.items.schedule(STEP, [{ key: userId, state: {} }]);
    else if (stage === 'card_failed') await take('retry_card');
    else if (stage === 'completed') throw refused('The onboarding is completed');
    else if (stage !== 'kyc_failed')
      throw refused(`The next step is the person's: the onboarding is at ${stage}`);
    else if (missingImages(await this.images.kinds(userId)).length > 0)
      throw refused('The images are no longer here: the person takes them again, by the same link as before');
    else await take('submit_identity');
    return { stage };
  }
}

function refused(message: string): DomainError {
  return new DomainError('invalid_transition', message);
}

/** Decides an identity under review in the sandbox. Throws `invalid_transition` without an open review. */
@Operation({ ...USER_SUBJECT, name: 'users.review' })
export class DecideReview extends OperatorCommand<ReviewDecision> {}

@CommandHandler(DecideReview)
export class DecideReviewHandler implements OperationHandler<DecideReview> {
  constructor(
    private readonly verifications: Verifications,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
  ) {}

  async check({ subjectId }: DecideReview): Promise<void> {
    if (this.config.mode !== 'sandbox')
      throw refused('Outside the sandbox the identity provider decides, in its dashboard');
    if (!(await this.verifications.isUnderReview(subjectId))) throw notUnderReview();
  }

  async execute({ subjectId, parameters: { decision } }: DecideReview): Promise<void> {
    // The person reads this reason; the operation's reason is internal.
    const reason = decision === 'approve' ? null : en.reasonVerification;
    if (!(await this.verifications.decideReview(subjectId, reason))) throw notUnderReview();
  }
}

function notUnderReview(): DomainError {
  return refused('No identity of this user is under review');
}

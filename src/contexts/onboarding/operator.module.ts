import { Module, type DynamicModule } from '@nestjs/common';
import type { Config } from '../../platform/config/config.js';
import { DecideReviewHandler } from './application/decide-review.js';
import { RetryCardHandler } from './application/retry-card.js';
import { RetryStepHandler } from './application/retry-step.js';
import { SubmitKycHandler } from './application/submit-kyc.js';
import { SandboxReviews } from './store/sandbox-reviews.js';
import { Images } from './store/images.js';
import { Steps } from './store/steps.js';
import { Progress } from './views/progress.js';

/** What operators see and do of onboardings, without page, providers and workers. */
@Module({})
export class OnboardingOperatorModule {
  static of({ mode }: Pick<Config, 'mode'>): DynamicModule {
    const sandbox = mode === 'sandbox' ? [SandboxReviews, DecideReviewHandler] : [];
    return {
      module: OnboardingOperatorModule,
      providers: [RetryStepHandler, RetryCardHandler, SubmitKycHandler, Images, Steps, Progress, ...sandbox],
    };
  }
}

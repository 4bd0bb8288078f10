import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import type { Config } from '../../platform/config/config.js';
import { KeyRing } from '../../platform/sealing/key-ring.js';
import { SandboxCallbacks } from './adapters/sandbox-callbacks.js';
import { CALLBACK_READER } from './application/callback-reader.js';
import { DecideReviewHandler, SANDBOX_SIGNER } from './application/decide-review.js';
import { ReceiveCallbackHandler } from './application/receive-callback.js';
import { Callbacks } from './store/callbacks.js';
import { RetryCardHandler } from './application/retry-card.js';
import { RetryStepHandler } from './application/retry-step.js';
import { SubmitKycHandler } from './application/submit-kyc.js';
import { SandboxReviews } from './store/sandbox-reviews.js';
import { Images } from './store/images.js';
import { Progress } from './views/progress.js';

/** Reviews in the sandbox: their state, who decides them, and the callbacks that tell of it. */
export const SANDBOX_REVIEWS: Provider[] = [
  SandboxReviews,
  DecideReviewHandler,
  {
    provide: SandboxCallbacks,
    inject: [KeyRing],
    useFactory: ({ root }: KeyRing) => new SandboxCallbacks(root),
  },
  { provide: SANDBOX_SIGNER, useExisting: SandboxCallbacks },
];

const READER: Provider = { provide: CALLBACK_READER, useExisting: SandboxCallbacks };

/** What operators see and do of onboardings, without page, providers and workers. */
@Module({})
export class OnboardingOperatorModule {
  static of({ mode }: Pick<Config, 'mode'>): DynamicModule {
    return {
      module: OnboardingOperatorModule,
      providers: [
        ...[RetryStepHandler, RetryCardHandler, SubmitKycHandler, Images, Progress],
        ...(mode === 'sandbox' ? [ReceiveCallbackHandler, Callbacks, ...SANDBOX_REVIEWS, READER] : []),
      ],
    };
  }
}

import { Module, type DynamicModule } from '@nestjs/common';
import type { Config } from '../../platform/config/config.js';
import { defineContext } from '../../platform/context.js';
import { ProviderReadiness } from './adapters/provider-readiness.js';
import { chosenOf, providersOf } from './adapters/providers.js';
import { AdvanceOnboardingHandler } from './application/advance-onboarding.js';
import { CompleteSandboxOnboardingHandler } from './application/complete-sandbox-onboarding.js';
import { ConfirmDetailsHandler } from './application/confirm-details.js';
import { CallbackPurge } from './application/callback-purge.js';
import { ReceiveCallbackHandler } from './application/receive-callback.js';
import { Callbacks } from './store/callbacks.js';
import { Onboarding1795000000400 } from './migrations/1795000000400-onboarding.js';
import { GiveUpHandler } from './application/give-up.js';
import { ImagePurge } from './application/image-purge.js';
import { ProgressGauge } from './application/progress-gauge.js';
import { RetryStepHandler } from './application/retry-step.js';
import { Verifications } from './store/verifications.js';
import { Progress, progressProjection } from './views/progress.js';
import { OnboardingOperatorModule, SANDBOX_REVIEWS } from './operator.module.js';
import { forgetApplicant } from './application/forget-applicant.js';
import { PhoneCodes } from './store/phone-codes.js';
import { ApplicantRows } from './store/applicant-rows.js';
import { Images } from './store/images.js';
import { PresentTerms } from './application/present-terms.js';
import { RetryCardHandler } from './application/retry-card.js';
import { StoreImageHandler } from './application/store-image.js';
import { SendPhoneCodeHandler } from './application/send-phone-code.js';
import { StartOnboardingHandler } from './application/start-onboarding.js';
import { stepsSaga } from './application/steps-saga.js';
import { StepsWorker } from './application/steps-worker.js';
import { SubmitKycHandler } from './application/submit-kyc.js';
import { VerifyPhoneHandler } from './application/verify-phone.js';
import { ONBOARDING_EVENTS } from './domain/onboarding-events.js';
import { SandboxOnboardingController } from './http/sandbox-onboarding.controller.js';
import { IdentityCallbacksController } from './http/widget/identity-callbacks.controller.js';
import { OnboardingPageController } from './http/widget/onboarding-page.controller.js';
import { OnboardingSessions } from './http/widget/onboarding-sessions.js';
import { StepsController } from './http/widget/steps.controller.js';
import { VisitorGuard } from './http/widget/visitor-guards.js';
import { checkProviderSettings } from './provider-settings.js';
import { ONBOARDING_PUBLISHES } from './published.js';
import { ONBOARDING_SETTINGS } from './settings.js';
import { onboardingHistory } from './domain/history.js';

/** Onboarding: from a user who enters the widget to an active one with a wallet and a card. */
@Module({})
export class OnboardingModule {
  static of(config: Config): DynamicModule {
    const isSandbox = config.mode === 'sandbox';
    return {
      module: OnboardingModule,
      controllers: [
        ...[OnboardingPageController, StepsController, IdentityCallbacksController],
        ...(isSandbox ? [SandboxOnboardingController] : []),
      ],
      providers: [
        PhoneCodes,
        Images,
        ApplicantRows,
        StoreImageHandler,
        RetryCardHandler,
        StartOnboardingHandler,
        SendPhoneCodeHandler,
        VerifyPhoneHandler,
        ConfirmDetailsHandler,
        SubmitKycHandler,
        AdvanceOnboardingHandler,
        GiveUpHandler,
        RetryStepHandler,
        ReceiveCallbackHandler,
        Callbacks,
        CallbackPurge,
        Verifications,
        Progress,
        StepsWorker,
        PresentTerms,
        ProgressGauge,
        ImagePurge,
        OnboardingSessions,
        VisitorGuard,
        ProviderReadiness,
        ...providersOf(chosenOf(config), isSandbox),
        ...(isSandbox ? [CompleteSandboxOnboardingHandler, ...SANDBOX_REVIEWS] : []),
      ],
    };
  }
}

export const onboarding = defineContext({
  name: 'onboarding',
  module: (config) => OnboardingModule.of(config),
  events: ONBOARDING_EVENTS,
  histories: [onboardingHistory],
  sealed: {
    'onboarding.details_confirmed.v1': {
      fields: ['first_name', 'last_name', 'date_of_birth'],
      subject: 'user_id',
    },
  },
  subscriptions: (get) => [stepsSaga(() => get(StepsWorker).work.wake()), progressProjection],
  operator: {
    module: (config) => OnboardingOperatorModule.of(config),
    subscriptions: () => [progressProjection],
  },
  programs: { user: async () => (await import('./cli/user.js')).onboardingProgram },
  forgets: forgetApplicant,
  publishes: ONBOARDING_PUBLISHES,
  settings: ONBOARDING_SETTINGS,
  checkSettings: checkProviderSettings,
  migrations: [Onboarding1795000000400],
});

import { Global, Module, type DynamicModule } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { provideSaga } from '../../platform/projections/subscription-registry.js';
import { DecideReviewHandler, RetryStepHandler } from './application/operator-commands.js';
import { Verifications } from './store/verifications.js';
import { Onboardings, TakeStepHandler } from './application/person-commands.js';
import { Images } from './store/images.js';
import { Progress, progressProjection } from './views/progress.js';
import { ProviderReadiness, createProviders } from './adapters/provider-wiring.js';
import { OnboardingSteps } from './application/onboarding-steps.js';
import { Onboarding1795000000401 } from './migrations/1795000000401-onboarding.js';
import { PhoneCodes } from './store/phone-codes.js';
import { PresentTerms } from './application/present-terms.js';
import { SendPhoneCodeHandler } from './application/phone-verification.js';
import { stepsSaga, StepsWorker } from './application/steps-worker.js';
import { OnboardingProgress } from '../users/contract.js';
import { AdminOnboardingsController } from './http/admin/onboardings.controller.js';
import { SandboxOnboardingController } from './http/sandbox-onboarding.controller.js';
import { IdentityCallbacksController } from './http/widget/identity-callbacks.controller.js';
import { OnboardingPageController } from './http/widget/onboarding-page.controller.js';
import { OnboardingSessions, VisitorGuard } from './http/widget/onboarding-page.js';
import { StepsController } from './http/widget/steps.controller.js';
import { checkProviderSettings, onboardingConfig, type OnboardingConfig } from './settings.js';
import { ONBOARDING_PUBLISHES } from './published.js';
import { onboardingHistory } from './domain/history.js';

/** The onboarding of users: from the first visit of the widget to an active user with a wallet and a card. */
@Global()
@Module({})
class OnboardingModule {
  static of(config: OnboardingConfig): DynamicModule {
    const isSandbox = config.mode === 'sandbox';
    return {
      module: OnboardingModule,
      controllers: [
        OnboardingPageController,
        StepsController,
        IdentityCallbacksController,
        AdminOnboardingsController,
        ...(isSandbox ? [SandboxOnboardingController] : []),
      ],
      providers: [
        Onboardings,
        PhoneCodes,
        Images,
        TakeStepHandler,
        SendPhoneCodeHandler,
        OnboardingSteps,
        RetryStepHandler,
        Verifications,
        Progress,
        { provide: OnboardingProgress, useExisting: Progress },
        StepsWorker,
        provideSaga([StepsWorker], ({ work }: StepsWorker) => stepsSaga(() => work.wake())),
        PresentTerms,
        OnboardingSessions,
        VisitorGuard,
        ProviderReadiness,
        ...createProviders(config),
        DecideReviewHandler,
      ],
      exports: [OnboardingProgress],
    };
  }
}

export const onboarding = defineContext({
  name: 'onboarding',
  module: (config: OnboardingConfig) => OnboardingModule.of(config),
  histories: [onboardingHistory],
  sealed: {
    'onboarding.details_confirmed.v1': {
      fields: ['first_name', 'last_name', 'date_of_birth'],
      subject: 'user_id',
    },
  },
  readModels: [progressProjection],
  publishes: ONBOARDING_PUBLISHES,
  config: onboardingConfig,
  checkSettings: checkProviderSettings,
  migrations: [Onboarding1795000000401],
});

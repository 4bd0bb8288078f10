import { Global, Module, type DynamicModule } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { provideSaga } from '../../platform/projections/subscription-registry.js';
import { DecideReviewHandler, RetryStepHandler } from './onboardings/operator.commands.js';
import { Verifications } from './identity/verifications.store.js';
import { Onboardings, SendPhoneCodeHandler, TakeStepHandler } from './onboardings/onboardings.commands.js';
import { Images } from './identity/images.store.js';
import { Progress, progressProjection } from './onboardings/onboardings.view.js';
import { ProviderReadiness, createProviders } from './providers/provider-wiring.adapter.js';
import { OnboardingSteps } from './onboardings/onboarding-steps.service.js';
import { Onboarding1795000000401 } from './migrations/1795000000401-onboarding.js';
import { PhoneCodes } from './phone/phone-codes.store.js';
import { PresentTerms } from './onboardings/present-terms.service.js';
import { stepsSaga, StepsProcessor } from './onboardings/steps.processor.js';
import { OnboardingProgress } from '../users/users.contract.js';
import { AdminOnboardingsController } from './onboardings/onboardings.controller.js';
import { SandboxOnboardingController } from './onboardings/sandbox-onboarding.controller.js';
import { IdentityCallbacksController } from './identity/identity-callbacks.controller.js';
import { OnboardingPageController } from './widget/onboarding-page.controller.js';
import { OnboardingSessions, VisitorGuard } from './widget/onboarding-session.guard.js';
import { StepsController } from './widget/steps.controller.js';
import { checkProviderSettings, onboardingConfig, type OnboardingConfig } from './onboarding.config.js';
import { ONBOARDING_PUBLISHES } from './onboarding.webhooks.js';
import { onboardingHistory } from './onboardings/history.js';

/** The onboarding of users: from the first visit of the widget to an active user with a wallet and a card. */
@Global()
@Module({})
class OnboardingModule {
  static forRoot(config: OnboardingConfig): DynamicModule {
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
        StepsProcessor,
        provideSaga([StepsProcessor], ({ work }: StepsProcessor) => stepsSaga(() => work.wake())),
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
  module: (config: OnboardingConfig) => OnboardingModule.forRoot(config),
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

import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { defineContext } from '../../platform/context.js';
import { KeyRing } from '../../platform/sealing/key-ring.js';
import { AbsentCards, AbsentIdentity, AbsentProviders } from './adapters/absent-providers.js';
import {
  SandboxCards,
  SandboxIdentityVerifier,
  SandboxSms,
  SandboxWallets,
} from './adapters/sandbox-providers.js';
import { AdvanceOnboardingHandler } from './application/advance-onboarding.js';
import { CompleteSandboxOnboardingHandler } from './application/complete-sandbox-onboarding.js';
import { ConfirmDetailsHandler } from './application/confirm-details.js';
import { CALLBACK_READER } from './application/callback-reader.js';
import { CallbackPurge } from './application/callback-purge.js';
import { ReceiveCallbackHandler } from './application/receive-callback.js';
import { IdentityCallbacks } from './http/callbacks/identity-callbacks.js';
import { Callbacks } from './store/callbacks.js';
import { Callbacks1764000000431 } from './migrations/1764000000431-callbacks.js';
import { GiveUpHandler } from './application/give-up.js';
import { ImagePurge } from './application/image-purge.js';
import { ProgressGauge } from './application/progress-gauge.js';
import { RetryStepHandler } from './application/retry-step.js';
import { SandboxReviews } from './store/sandbox-reviews.js';
import { Verifications } from './store/verifications.js';
import { Progress, progressProjection } from './views/progress.js';
import { OnboardingOperatorModule, SANDBOX_REVIEWS } from './operator.module.js';
import { Verifications1764000000430 } from './migrations/1764000000430-verifications.js';
import { forgetApplicant } from './store/forget-applicant.js';
import { PhoneCodes } from './store/phone-codes.js';
import { Images } from './store/images.js';
import { Steps } from './store/steps.js';
import {
  CARD_ISSUER,
  IDENTITY_VERIFIER,
  SMS_INBOX,
  SMS_SENDER,
  WALLET_PROVISIONER,
} from './application/ports.js';
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
import { WidgetGate } from './http/widget/gate.js';
import { ImageUploads } from './http/widget/image-uploads.js';
import { OnboardingFactsOf } from './http/widget/page-facts.js';
import { WidgetSessions } from './http/widget/sessions.js';
import { WidgetSteps } from './http/widget/steps.js';
import { WidgetServer } from './http/widget/widget-server.js';
import { Onboarding1764000000410 } from './migrations/1764000000410-onboarding.js';
import { Images1764000000420 } from './migrations/1764000000420-images.js';
import { ONBOARDING_PUBLISHES } from './published.js';
import { ONBOARDING_SETTINGS } from './settings.js';
import { onboardingHistory } from './domain/history.js';

interface Providers {
  readonly providers: Provider[];
  readonly controllers: Type[];
}

/** Onboarding: from a user who enters the widget to an active one with a wallet and a card. */
@Module({})
export class OnboardingModule {
  static of(config: Pick<Config, 'mode'>): DynamicModule {
    const { providers, controllers } = config.mode === 'sandbox' ? sandbox() : production();
    return {
      module: OnboardingModule,
      controllers,
      providers: [
        PhoneCodes,
        Images,
        Steps,
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
        IdentityCallbacks,
        Verifications,
        Progress,
        StepsWorker,
        PresentTerms,
        ProgressGauge,
        ImagePurge,
        WidgetSessions,
        WidgetGate,
        OnboardingFactsOf,
        ImageUploads,
        WidgetSteps,
        WidgetServer,
        ...providers,
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
  migrations: [
    Onboarding1764000000410,
    Images1764000000420,
    Verifications1764000000430,
    Callbacks1764000000431,
  ],
});

function sandbox(): Providers {
  return {
    controllers: [SandboxOnboardingController],
    providers: [
      CompleteSandboxOnboardingHandler,
      SandboxSms,
      { provide: SMS_SENDER, useExisting: SandboxSms },
      { provide: SMS_INBOX, useExisting: SandboxSms },
      ...SANDBOX_REVIEWS,
      {
        provide: IDENTITY_VERIFIER,
        inject: [SandboxReviews, Verifications, CONFIG],
        useFactory: (
          reviews: SandboxReviews,
          verifications: Verifications,
          { sandboxReviewSeconds }: Config,
        ) => new SandboxIdentityVerifier(reviews, verifications, sandboxReviewSeconds),
      },
      {
        provide: WALLET_PROVISIONER,
        inject: [KeyRing],
        useFactory: ({ root }: KeyRing) => new SandboxWallets(root),
      },
      { provide: CARD_ISSUER, useClass: SandboxCards },
    ],
  };
}

function production(): Providers {
  const absent = new AbsentProviders();
  return {
    controllers: [],
    providers: [
      { provide: SMS_SENDER, useValue: absent },
      { provide: IDENTITY_VERIFIER, useClass: AbsentIdentity },
      { provide: CALLBACK_READER, useValue: null },
      { provide: WALLET_PROVISIONER, useValue: absent },
      { provide: CARD_ISSUER, useClass: AbsentCards },
    ],
  };
}

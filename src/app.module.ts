import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { ScheduleModule } from '@nestjs/schedule';
import { EventStoreModule } from './platform/event-store/event-store.module.js';
import { MerchantsModule } from './contexts/merchants/merchants.module.js';
import { onboardingApi } from './contexts/onboarding/http/openapi.js';
import { OnboardingModule } from './contexts/onboarding/onboarding.module.js';
import { payoutsApi } from './contexts/payouts/http/openapi.js';
import { PayoutsModule } from './contexts/payouts/payouts.module.js';
import type { Config } from './platform/config/config.js';
import { BackgroundModule } from './platform/background/background.module.js';
import { ConfigModule } from './platform/config/config.module.js';
import { DatabaseModule } from './platform/postgres/database.module.js';
import { HttpModule } from './platform/http/http.module.js';
import type { OpenApiFragment } from './platform/openapi/fragment.js';
import { OpenApiModule } from './platform/openapi/openapi.module.js';
import { QueueModule } from './platform/queue/queue.module.js';
import { sandboxApi } from '../sandbox/openapi.js';
import { SandboxModule } from '../sandbox/sandbox.module.js';
import { SealingModule } from './platform/sealing/sealing.module.js';
import { TelemetryModule } from './platform/telemetry/telemetry.module.js';
import { journeyApi } from './contexts/tracking/http/journey-openapi.js';
import { trackingApi } from './contexts/tracking/http/openapi.js';
import { TrackingModule } from './contexts/tracking/tracking.module.js';
import { usersApi } from './contexts/users/http/openapi.js';
import { UsersModule } from './contexts/users/users.module.js';
import { deliveriesApi } from './contexts/webhooks/http/deliveries-openapi.js';
import { webhooksApi } from './contexts/webhooks/http/openapi.js';
import { WebhooksModule } from './contexts/webhooks/webhooks.module.js';

/** What the OpenAPI document is made of: one fragment per context that has endpoints. */
function apisOf(config: Config): readonly OpenApiFragment[] {
  const sandbox = [sandboxApi, onboardingApi];
  return [
    usersApi,
    payoutsApi,
    trackingApi,
    journeyApi,
    webhooksApi,
    deliveriesApi,
    ...(config.mode === 'sandbox' ? sandbox : []),
  ];
}

/** The table of contents: what the service is made of, one line each. */
@Module({})
export class AppModule {
  static of(config: Config): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.of(config),
        CqrsModule.forRoot(),
        ScheduleModule.forRoot(),
        BackgroundModule,
        DatabaseModule,
        SealingModule,
        EventStoreModule,
        TelemetryModule,
        QueueModule,
        HttpModule,
        OpenApiModule.of(apisOf(config)),
        MerchantsModule,
        UsersModule,
        OnboardingModule.of(config),
        PayoutsModule,
        TrackingModule,
        WebhooksModule,
        ...(config.mode === 'sandbox' ? [SandboxModule] : []),
      ],
    };
  }
}

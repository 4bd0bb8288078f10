import { Global, Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { ResponseStore } from '../idempotency/response-store.js';
import { DocsSite } from './docs-site.js';
import { DocsController, OpenApiController } from './docs.controller.js';
import { HealthController } from './health.controller.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { MetricsServer } from './metrics-server.js';
import { PagesModule } from './pages/pages.module.js';
import { RateLimitGuard } from './rate-limit.js';

/**
 * HTTP of the service. A context with an API provides an ApiGuard as a global guard (APP_GUARD). service.ts starts the
 * {@link MetricsServer}.
 */
@Global()
@Module({
  imports: [PagesModule],
  controllers: [HealthController, DocsController, OpenApiController],
  providers: [
    { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
    ResponseStore,
    RateLimitGuard,
    MetricsServer,
    { provide: DocsSite, useFactory: () => new DocsSite() },
  ],
  exports: [RateLimitGuard, MetricsServer, ResponseStore],
})
export class HttpModule {}

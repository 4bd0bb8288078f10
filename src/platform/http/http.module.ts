import { Global, Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { ResponseStore } from '../idempotency/response-store.js';
import { Database } from '../postgres/database.js';
import { KeyedHash } from '../sealing/keyed-hash.js';
import { DocsSite } from './docs-site.js';
import { DocsController, OpenApiController } from './docs.controller.js';
import { HealthController } from './health.controller.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { MetricsServer } from './metrics-server.js';
import { PagesModule } from './pages/pages.module.js';
import { RateLimitGuard, RateLimits } from './rate-limit.js';
import { BodyInterceptor } from './request-body.js';

/**
 * HTTP of the service. A context with an API provides an ApiGuard as a global guard (APP_GUARD). service.ts starts the
 * {@link MetricsServer}.
 */
@Global()
@Module({
  imports: [PagesModule],
  controllers: [HealthController, DocsController, OpenApiController],
  providers: [
    // In this order: a body is read before its Idempotency-Key is.
    { provide: APP_INTERCEPTOR, useClass: BodyInterceptor },
    { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
    ResponseStore,
    {
      provide: RateLimits,
      inject: [Database, KeyedHash],
      useFactory: ({ pool }: Database, keyedHash: KeyedHash) => new RateLimits(pool, keyedHash),
    },
    RateLimitGuard,
    MetricsServer,
    { provide: DocsSite, useFactory: () => new DocsSite() },
  ],
  exports: [RateLimits, RateLimitGuard, MetricsServer, ResponseStore],
})
export class HttpModule {}

import { Global, Inject, Module, Optional, type OnModuleInit } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, HttpAdapterHost } from '@nestjs/core';
import { type HttpConfig, httpConfig } from '../config/config.js';
import { ResponseStore } from '../idempotency/response-store.js';
import { Database } from '../postgres/database.js';
import { KeyedHash } from '../sealing/keyed-hash.js';
import { Log } from '../telemetry/logger.js';
import { Admission, Authentications } from './authentication.js';
import { DocsSite } from './docs-site.js';
import { DocsController } from './docs.controller.js';
import { EdgeAdapter } from './fastify-adapter.js';
import { HealthController } from './health.controller.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { MetricsServer } from './metrics-server.js';
import { PagesModule } from './pages/pages.module.js';
import { ProblemFilter } from './problem-filter.js';
import { CallerRateLimiter } from './rate-limit.js';
import { RequestLog } from './request-log.js';

/**
 * Completes the {@link EdgeAdapter} with what lives in the application. A context with an API registers how its callers
 * authenticate in {@link Authentications}. service.ts starts the {@link MetricsServer}.
 */
@Global()
@Module({
  imports: [PagesModule],
  controllers: [HealthController, DocsController],
  providers: [
    { provide: APP_FILTER, useClass: ProblemFilter },
    { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
    ResponseStore,
    Authentications,
    MetricsServer,
    { provide: DocsSite, useFactory: () => new DocsSite() },
    {
      provide: Admission,
      inject: [Database, httpConfig.KEY, KeyedHash],
      useFactory: ({ pool }: Database, { rateLimitPerMinute }: HttpConfig, keyedHash: KeyedHash) =>
        new Admission(
          new CallerRateLimiter(pool, rateLimitPerMinute, keyedHash),
          new CallerRateLimiter(pool, rateLimitPerMinute, keyedHash, Date.now, 'key'),
        ),
    },
  ],
  exports: [Authentications, Admission, MetricsServer, ResponseStore],
})
export class HttpModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly authentications: Authentications,
    private readonly admission: Admission,
    private readonly log: Log,
    @Optional() @Inject(RequestLog) private readonly requests: RequestLog | null = null,
  ) {}

  onModuleInit(): void {
    const adapter: unknown = this.host.httpAdapter;
    if (!(adapter instanceof EdgeAdapter)) return;
    const { authentications, admission, log, requests } = this;
    adapter.edge.connect({ authentications, admission, log, requests });
  }
}

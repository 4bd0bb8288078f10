import { Global, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost, ModuleRef } from '@nestjs/core';
import { CONFIG, type Config } from '../config/config.js';
import { Database } from '../postgres/database.js';
import { KeyedHash } from '../sealing/keyed-hash.js';
import { Log } from '../telemetry/logger.js';
import { Admission, Authentications } from './authentication.js';
import { MERCHANT_DIRECTORY, type MerchantDirectory } from './merchant-directory.js';
import { EdgeAdapter } from './fastify-adapter.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { HealthController } from './health.controller.js';
import { KeyedRequests } from './keyed-requests.js';
import { MetricsServer } from './metrics-server.js';
import { PagesModule } from './pages/pages.module.js';
import { ProblemFilter } from './problem-filter.js';
import { CallerRateLimiter } from './rate-limit.js';
import { SvcSignature } from './svc-signature/svc-signature.js';

/**
 * Completes the {@link EdgeAdapter} with what lives in the application. The access context provides
 * {@link MERCHANT_DIRECTORY}; an API with another way to authenticate registers it in {@link Authentications}. main.ts starts the
 * {@link MetricsServer}.
 */
@Global()
@Module({
  imports: [PagesModule],
  controllers: [HealthController],
  providers: [{ provide: APP_FILTER, useClass: ProblemFilter }, Authentications, MetricsServer],
  exports: [Authentications, MetricsServer],
})
export class HttpModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly modules: ModuleRef,
    private readonly authentications: Authentications,
    private readonly database: Database,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onModuleInit(): void {
    const adapter: unknown = this.host.httpAdapter;
    if (!(adapter instanceof EdgeAdapter)) return;
    const anywhere = { strict: false };
    const directory = this.modules.get<MerchantDirectory>(MERCHANT_DIRECTORY, anywhere);
    this.authentications.register(new SvcSignature(directory));
    const { rateLimitPerMinute } = this.config;
    const counted = [this.database.pool, rateLimitPerMinute, this.modules.get(KeyedHash, anywhere)] as const;
    const limiter = new CallerRateLimiter(...counted);
    const keyLimiter = new CallerRateLimiter(...counted, Date.now, 'key');
    adapter.edge.connect({
      authentications: this.authentications,
      admission: new Admission(limiter, keyLimiter),
      keyed: new KeyedRequests(this.modules.get(Idempotency, anywhere)),
      log: this.modules.get(Log, anywhere),
    });
  }
}

import { Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost, ModuleRef } from '@nestjs/core';
import { EVENT_STORE, type EventStore } from '../event-store/port.js';
import { CONFIG, type Config } from '../config/config.js';
import { Database } from '../postgres/database.js';
import { Sealer } from '../sealing/sealer.js';
import { Log } from '../telemetry/logger.js';
import { Admission } from './admission.js';
import { AnswerSeal } from '../idempotency/response-seal.js';
import { ANSWER_STORE, MERCHANT_DIRECTORY, type AnswerStore, type MerchantDirectory } from './edge.js';
import { EdgeAdapter } from './fastify-adapter.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { ProblemFilter } from './problem-filter.js';
import { MerchantRateLimiter } from './rate-limit.js';

/**
 * Completes the {@link EdgeAdapter} with what lives in the application. The merchants context provides
 * {@link MERCHANT_DIRECTORY}, the event store {@link ANSWER_STORE} and EVENT_STORE.
 */
@Module({ providers: [{ provide: APP_FILTER, useClass: ProblemFilter }] })
export class HttpModule implements OnModuleInit, OnApplicationShutdown {
  private limiter: MerchantRateLimiter | null = null;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly modules: ModuleRef,
    private readonly database: Database,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onModuleInit(): void {
    const adapter: unknown = this.host.httpAdapter;
    if (!(adapter instanceof EdgeAdapter)) return;
    const anywhere = { strict: false };
    const directory = this.modules.get<MerchantDirectory>(MERCHANT_DIRECTORY, anywhere);
    const answers = this.modules.get<AnswerStore>(ANSWER_STORE, anywhere);
    const events = this.modules.get<EventStore>(EVENT_STORE, anywhere);
    this.limiter = new MerchantRateLimiter(this.database.pool, this.config.rateLimitPerMinute);
    adapter.edge.connect({
      admission: new Admission(directory, this.limiter),
      idempotency: new Idempotency(answers, events.carriesAnswers),
      seal: new AnswerSeal(this.modules.get(Sealer, anywhere)),
      log: this.modules.get(Log, anywhere),
    });
  }

  onApplicationShutdown(): void {
    this.limiter?.close();
  }
}

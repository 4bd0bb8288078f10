import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { ALL_CONTEXTS, CONFIG_PARTS, MIGRATIONS, type Config } from './composition.js';
import { ContextsModule } from './platform/boot/contexts.module.js';
import { configModule } from './platform/config/config.js';
import { EventStoreModule } from './platform/event-store/event-store.module.js';
import { ProjectionsModule } from './platform/projections/projections.module.js';
import { HttpModule } from './platform/http/http.module.js';
import { DatabaseModule } from './platform/postgres/database.module.js';
import { BackgroundModule } from './platform/jobs/background.module.js';
import { JobsModule } from './platform/jobs/jobs.module.js';
import { SealingModule } from './platform/sealing/sealing.module.js';
import { ReadinessModule } from './platform/boot/readiness.module.js';

/** The root module of the service. Its contexts are listed in contexts/index.ts. */
@Module({})
export class AppModule {
  static forRoot(config: Config, modules: readonly Type[] = []): DynamicModule {
    return {
      module: AppModule,
      imports: [
        configModule(config, CONFIG_PARTS),
        CqrsModule.forRoot(),
        BackgroundModule,
        DatabaseModule.forRoot(MIGRATIONS),
        SealingModule,
        EventStoreModule,
        ProjectionsModule,
        ReadinessModule,
        JobsModule,
        HttpModule,
        ContextsModule.forRoot(config, ALL_CONTEXTS),
        ...modules,
      ],
    };
  }
}

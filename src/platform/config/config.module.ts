import { Global, Module, type DynamicModule } from '@nestjs/common';
import { CLOCK, systemClock } from '../../kernel/clock.js';
import { CONFIG, type Config } from './config.js';

/** The configuration that was read and completed before Nest booted, and the clock, for every module. */
@Global()
@Module({})
export class ConfigModule {
  static of(config: Config): DynamicModule {
    return {
      module: ConfigModule,
      providers: [
        { provide: CONFIG, useValue: config },
        { provide: CLOCK, useValue: systemClock },
      ],
      exports: [CONFIG, CLOCK],
    };
  }
}

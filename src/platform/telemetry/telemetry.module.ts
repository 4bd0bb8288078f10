import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { HealthRegistry } from './health.js';
import { Log } from './logger.js';
import { ProcessFacts } from './process-facts.js';

/** The log, the health and the facts of the process, for every module. */
@Global()
@Module({
  providers: [
    { provide: Log, inject: [CONFIG], useFactory: (config: Config) => Log.open(config) },
    HealthRegistry,
    ProcessFacts,
  ],
  exports: [Log, HealthRegistry, ProcessFacts],
})
export class TelemetryModule implements OnApplicationShutdown {
  constructor(private readonly log: Log) {}

  onApplicationShutdown(): void {
    this.log.close();
  }
}

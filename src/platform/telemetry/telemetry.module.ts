import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { HealthRegistry } from './health.js';
import { Log } from './logger.js';

/** The log and the health of the process, for every module. */
@Global()
@Module({
  providers: [
    { provide: Log, inject: [CONFIG], useFactory: (config: Config) => Log.open(config) },
    HealthRegistry,
  ],
  exports: [Log, HealthRegistry],
})
export class TelemetryModule implements OnApplicationShutdown {
  constructor(private readonly log: Log) {}

  onApplicationShutdown(): void {
    this.log.close();
  }
}

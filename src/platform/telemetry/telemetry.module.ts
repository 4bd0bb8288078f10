import { Global, Module } from '@nestjs/common';
import { telemetryConfig } from '../config/config.js';
import { HealthRegistry } from './health.js';
import { Log } from './logger.js';
import { ProcessFacts } from './process-facts.js';

@Global()
@Module({
  providers: [
    { provide: Log, inject: [telemetryConfig.KEY], useFactory: Log.open.bind(Log) },
    HealthRegistry,
    ProcessFacts,
  ],
  exports: [Log, HealthRegistry, ProcessFacts],
})
export class TelemetryModule {}

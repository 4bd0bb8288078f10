import { Module } from '@nestjs/common';
import { Heartbeat } from './application/heartbeat.js';
import { SystemStatus } from './application/system-status.js';
import { SystemController } from './http/system.controller.js';
import { DueItems } from './store/due-items.js';
import { Processes } from './store/processes.js';

/** The state of the service for operators. */
@Module({
  controllers: [SystemController],
  providers: [Processes, DueItems, Heartbeat, SystemStatus],
})
export class SystemModule {}

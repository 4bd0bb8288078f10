import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { GlobalSearch } from './application/global-search.js';
import { Heartbeat } from './application/heartbeat.js';
import { SystemStatus } from './application/system-status.js';
import { AdminSearchController } from './http/admin/search.controller.js';
import { AdminSystemController } from './http/admin/system.controller.js';
import { DueItems } from './store/due-items.js';
import { Processes } from './store/processes.js';

export const SYSTEM_TAGS = {
  'Admin: system': [28, 'The state of the service.'],
  'Admin: search': [31, 'Finds anything by its id.'],
} as const;

/** The state of the service, and the search across contexts, for operators. */
@Module({
  imports: [DiscoveryModule],
  controllers: [AdminSystemController, AdminSearchController],
  providers: [Processes, DueItems, Heartbeat, SystemStatus, GlobalSearch],
})
export class SystemModule {}

import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { defineContext } from '../../platform/context.js';
import { Operations, OperatorLookups } from '../../platform/operations/operations.js';
import { SYSTEM_HANDLERS } from '../../platform/cli/system-commands.js';
import { provideSaga } from '../../platform/projections/subscription-registry.js';
import { Definitions } from './operations/definitions.service.js';
import { Execution } from './operations/execution.service.js';
import { OperationsService } from './operations/operations.service.js';
import { settlingSaga, SettlingProcessor } from './operations/settling.processor.js';
import { operationHistory } from './operations/operation.js';
import { AdminOperationsController, PortalLookupsController } from './operations/operations.controller.js';
import { Operations1795000000980 } from './migrations/1795000000980-operations.js';
import { LookupsView } from './search/lookups.view.js';
import { checkOperationsSettings, operationsConfig } from './operations.config.js';
import { SystemTables } from './system/system.store.js';
import { SystemStatus } from './system/system-status.service.js';
import { AdminSearchController } from './search/search.controller.js';
import { AdminSystemController } from './system/system.controller.js';
import { OperationsView, operationViews } from './operations/operations.view.js';

/** Operations of operators (admin-api.md 4), the state of the service, and the search across contexts. */
@Global()
@Module({
  imports: [DiscoveryModule],
  controllers: [
    AdminOperationsController,
    PortalLookupsController,
    AdminSystemController,
    AdminSearchController,
  ],
  providers: [
    Definitions,
    ...SYSTEM_HANDLERS,
    Execution,
    OperationsService,
    { provide: Operations, useExisting: OperationsService },
    OperationsView,
    LookupsView,
    { provide: OperatorLookups, useExisting: LookupsView },
    SettlingProcessor,
    provideSaga([SettlingProcessor, Definitions], ({ work }: SettlingProcessor, definitions: Definitions) =>
      settlingSaga(definitions, () => work.wake()),
    ),
    SystemTables,
    SystemStatus,
  ],
  exports: [Operations, OperatorLookups],
})
class OperationsModule {}

export const operations = defineContext({
  name: 'operations',
  module: () => OperationsModule,
  histories: [operationHistory],
  readModels: [operationViews],
  document: {
    tags: {
      'Admin: system': [28, 'The state of the service.'],
      'Admin: search': [31, 'Finds anything by its id.'],
      'Admin: operations': [29, 'What operators did, and what waits for a second person.'],
    },
  },
  migrations: [Operations1795000000980],
  config: operationsConfig,
  checkSettings: checkOperationsSettings,
});

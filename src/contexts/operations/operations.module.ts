import { Global, Module } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { Operations } from '../../platform/operations/operations.js';
import { Definitions } from './application/definitions.js';
import { Execution } from './application/execution.js';
import { OperationLog } from './application/operation-log.js';
import { RequestedOperations } from './application/request-operation.js';
import { Subjects } from './application/subjects.js';
import { OPERATION_EVENTS } from './domain/operation-events.js';
import { checkOperationsSettings, OPERATIONS_SETTINGS } from './settings.js';

/** Requests and executes operations; programs of operators need nothing else of them. */
@Global()
@Module({
  providers: [
    Definitions,
    Execution,
    OperationLog,
    Subjects,
    RequestedOperations,
    { provide: Operations, useExisting: RequestedOperations },
  ],
  exports: [Operations],
})
class RequestedOperationsModule {}

/** What operators do, why, and who approved it (admin-api.md 4). */
@Module({ imports: [RequestedOperationsModule] })
class OperationsModule {}

export const operations = defineContext({
  name: 'operations',
  module: () => OperationsModule,
  events: OPERATION_EVENTS,
  settings: OPERATIONS_SETTINGS,
  checkSettings: checkOperationsSettings,
  operator: { module: () => RequestedOperationsModule },
});

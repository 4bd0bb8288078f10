export { operation, statusOf as operationStatus, type ExistingOperation } from './domain/operation.js';
export type { OperationEvent, Requested as RequestedOperation } from './domain/operation-events.js';
export { LookupsView, type LookupJson } from './views/lookups.js';
export { OperationsView } from './views/operations.js';
export { OPERATION_VIEWS } from './views/operation-projection.js';

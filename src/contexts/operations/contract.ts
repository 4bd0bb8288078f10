export { LookupsView, type LookupJson } from './views/lookups.js';
export { OperationsView } from './views/operations.js';
export { OPERATION_VIEWS } from './views/operations.js';

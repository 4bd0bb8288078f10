import { foldedRows } from '../../../platform/projections/folded-rows.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { operationHistory } from '../domain/history.js';
import { operation, statusOf, type ExistingOperation } from '../domain/operation.js';
import { operationJson } from './operation-json.js';

/** Name of the checkpoint that a list waits for. */
export const OPERATION_VIEWS = subscriptionName('operations.views');

export const operationViews: SubscriptionDefinition = {
  name: OPERATION_VIEWS,
  events: operationHistory.events,
  apply: foldedRows({
    schema: 'operations',
    table: 'operations',
    aggregate: operation,
    id: 'operation_id',
    toRow: (state) => (state.phase === 'none' ? null : toRow(state)),
  }),
  tables: { schema: 'operations', names: ['operations'], json: ['events', 'body'] },
};

function toRow(state: ExistingOperation) {
  const { facts, executed } = state;
  return {
    name: facts.name,
    status: statusOf(state),
    operator_id: facts.requested_by.operator_id,
    operator_name: facts.requested_by.name,
    subject_kind: facts.subject.kind,
    subject_id: facts.subject.id,
    merchant_id: facts.merchant_id,
    reason: facts.reason,
    requested_at: facts.requested_at,
    expires_at: facts.expires_at,
    executed_at: executed?.at ?? null,
    body: JSON.stringify(operationJson(state)),
  };
}

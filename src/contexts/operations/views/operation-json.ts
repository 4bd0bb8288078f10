import type { JsonObject } from '../../../platform/event-store/port.js';
import type { OperationJson } from '../../../platform/operations/operations.js';
import type { PersonFacts } from '../domain/operation-events.js';
import { statusOf, type ExistingOperation } from '../domain/operation.js';

/** The operation as the admin API displays it (admin-api.md 4). */
export function operationJson(state: ExistingOperation): OperationJson {
  const { facts, decision, executed, failure } = state;
  return {
    id: facts.operation_id,
    name: facts.name,
    status: statusOf(state),
    subject: facts.subject,
    parameters: facts.parameters as JsonObject,
    reason: facts.reason,
    ticket: facts.ticket,
    approval: facts.approval,
    requested_by: personJson(facts.requested_by),
    requested_at: facts.requested_at,
    expires_at: facts.expires_at,
    decided_by: decision === null ? null : personJson(decision.decided_by),
    decided_at: decision?.at ?? null,
    decision_reason: decision?.reason ?? null,
    executed_at: executed?.at ?? null,
    failure: failure === null ? null : { code: failure.code, message: failure.message },
  };
}

function personJson({ session_id: _, ...person }: PersonFacts): Omit<PersonFacts, 'session_id'> {
  return person;
}

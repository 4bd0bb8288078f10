import { HOUR_MS } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type {
  DecisionFacts,
  ExecutedFacts,
  Failed,
  OperationApproved,
  OperationConfirmed,
  OperationExecuted,
  OperationFailed,
  OperationLapsed,
  OperationRejected,
  OperationRequested,
  OperationWithdrawn,
  PersonFacts,
  Requested,
} from './operation-events.js';
import {
  existingOperation,
  isUnfinished,
  isUnconfirmed,
  type ExistingOperation,
  type OperationState,
} from './operation.js';

/** How long an operation waits for its approval, and when a confirmation is overdue. */
const EXPIRES_AFTER_MS = { before: 72 * HOUR_MS, after: 24 * HOUR_MS };

/** The facts of a request: whether a second person is needed follows from the definition and the settings. */
export function requestedFacts(
  given: Omit<Requested, 'approval' | 'expires_at'>,
  { approvals }: { readonly approvals: 'on' | 'off' },
): Requested {
  const { second_person: second, requested_at } = given;
  const approval = second === null ? 'none' : approvals === 'off' ? 'off' : 'required';
  const waits = approval === 'required' && second !== null;
  const expires = waits ? new Date(Date.parse(requested_at) + EXPIRES_AFTER_MS[second]).toISOString() : null;
  return { ...given, approval, expires_at: expires };
}

/** A repeat finds its own request and writes nothing. */
export function requestOperation(facts: Requested, state: OperationState): OperationRequested[] {
  return state.phase === 'none' ? [{ type: 'operation.requested.v1', data: facts }] : [];
}

function isSamePerson(one: PersonFacts, other: PersonFacts): boolean {
  return one.operator_id !== null && one.operator_id === other.operator_id;
}

/** Returns true when this very request decided it: a repeat after a crash changes nothing. */
function isRepeat({ decision_id: id }: DecisionFacts, { decision }: ExistingOperation): boolean {
  return id !== undefined && id === decision?.decision_id;
}

function decided({ phase }: ExistingOperation): DomainError {
  const words = phase === 'pending' ? 'waiting for its approval' : phase === 'approved' ? 'approved' : phase;
  return new DomainError('invalid_transition', `The operation is ${words}`);
}

function requirePerson({ decided_by: { operator_id } }: DecisionFacts): void {
  if (operator_id === null) throw new DomainError('forbidden', 'Only a person decides on operations');
}

function isExpired({ phase, facts }: ExistingOperation, at: string): boolean {
  return phase === 'pending' && facts.expires_at !== null && Date.parse(at) >= Date.parse(facts.expires_at);
}

/** After `expires_at` it lapses instead. Throws `forbidden` for one's own, `invalid_transition` for what is decided. */
export function approveOperation(
  decision: DecisionFacts,
  state: OperationState,
): (OperationApproved | OperationLapsed)[] {
  const found = existingOperation(state);
  requirePerson(decision);
  if (isRepeat(decision, found)) return [];
  if (found.phase !== 'pending') throw decided(found);
  if (isExpired(found, decision.at)) return lapseOperation(decision, state);
  if (isSamePerson(found.facts.requested_by, decision.decided_by))
    throw new DomainError('forbidden', 'Another person must approve this operation');
  return [{ type: 'operation.approved.v1', data: decision }];
}

/** One's own is withdrawn. Throws `invalid_transition` for what is decided. */
export function rejectOperation(
  decision: DecisionFacts,
  state: OperationState,
): (OperationRejected | OperationWithdrawn | OperationLapsed)[] {
  const found = existingOperation(state);
  requirePerson(decision);
  if (isRepeat(decision, found)) return [];
  if (found.phase !== 'pending') throw decided(found);
  if (isExpired(found, decision.at)) return lapseOperation(decision, state);
  const own = isSamePerson(found.facts.requested_by, decision.decided_by);
  return [{ type: own ? 'operation.withdrawn.v1' : 'operation.rejected.v1', data: decision }];
}

/** However late. Throws `forbidden` for one's own, `invalid_transition` for what needs no confirmation, or has one. */
export function confirmOperation(decision: DecisionFacts, state: OperationState): OperationConfirmed[] {
  const found = existingOperation(state);
  requirePerson(decision);
  if (isRepeat(decision, found)) return [];
  if (!isUnconfirmed(found)) throw decided(found);
  if (isSamePerson(found.facts.requested_by, decision.decided_by))
    throw new DomainError('forbidden', 'Another person must confirm this operation');
  return [{ type: 'operation.confirmed.v1', data: decision }];
}

/** A repeat changes nothing. Throws `invalid_transition` for what may not be executed. */
export function recordExecuted(executed: ExecutedFacts, state: OperationState): OperationExecuted[] {
  const found = existingOperation(state);
  if (found.phase === 'executed') return [];
  if (!isUnfinished(found)) throw decided(found);
  return [{ type: 'operation.executed.v1', data: executed }];
}

/** Without effect on what has ended. One that waits fails where its requester may request it no more. */
export function recordFailed(failed: Failed, state: OperationState): OperationFailed[] {
  const found = existingOperation(state);
  const mayFail = isUnfinished(found) || found.phase === 'pending';
  return mayFail ? [{ type: 'operation.failed.v1', data: failed }] : [];
}

/** Only once `expires_at` is past, and without effect on what is decided. */
export function lapseOperation(
  { operation_id, at }: { readonly operation_id: string; readonly at: string },
  state: OperationState,
): OperationLapsed[] {
  return isExpired(existingOperation(state), at)
    ? [{ type: 'operation.lapsed.v1', data: { operation_id, at } }]
    : [];
}

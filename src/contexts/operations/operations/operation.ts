import { withChanges, type Aggregate, type Changes, type DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { HOUR_MS } from '../../../kernel/clock.js';
import { historyRules } from '../../../kernel/history-rules.js';

/** The person who requested or decided an operation (admin-api.md 4). */
export interface PersonFacts {
  /** The operator; null for the shell of the machine. */
  readonly operator_id: string | null;
  readonly name: string;
  readonly role: string | null;
  readonly credential_id: string | null;
  readonly address: string | null;
  readonly session_id?: string;
}

export interface Requested {
  readonly operation_id: string;
  readonly name: string;
  readonly subject: { readonly kind: string; readonly id: string; readonly revision: number | null };
  /** The JSON parameters, without personal data and secrets. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly ticket: string | null;
  readonly merchant_id: string | null;
  readonly approval: 'none' | 'required' | 'off';
  /** The time of the second person's decision relative to the execution; null if none is needed. */
  readonly second_person: 'before' | 'after' | null;
  readonly requested_by: PersonFacts;
  readonly requested_at: string;
  /** The approval's deadline, or the time from which a confirmation is overdue. Null if neither is needed. */
  readonly expires_at: string | null;
}

export interface DecisionFacts {
  readonly operation_id: string;
  readonly decided_by: PersonFacts;
  readonly reason: string;
  /** The id of the request for the decision, which identifies a repeat of the request. */
  readonly decision_id?: string;
  readonly at: string;
}

/** An event that the operation wrote. */
export interface Change {
  readonly stream: string;
  readonly event_id: string;
  readonly type: string;
}

type Facts<Others> = { readonly operation_id: string; readonly at: string } & Others;
type ExecutedFacts = Facts<{ readonly changes: readonly Change[] }>;
/** The `code` is `changed` for a subject at another revision, else the code of the error. */
type Failed = Facts<Readonly<Record<'code' | 'message', string>>>;

export type OperationEvent =
  | DomainEvent<'operation.requested.v1', Requested>
  | DomainEvent<'operation.approved.v1', DecisionFacts>
  | DomainEvent<'operation.rejected.v1', DecisionFacts>
  | DomainEvent<'operation.withdrawn.v1', DecisionFacts>
  | DomainEvent<'operation.confirmed.v1', DecisionFacts>
  | DomainEvent<'operation.executed.v1', ExecutedFacts>
  | DomainEvent<'operation.failed.v1', Failed>
  | DomainEvent<'operation.lapsed.v1', Facts<object>>;

/** The phases `requested` and `approved` await execution, `pending` an approval (admin-api.md 4). */
type Phase =
  'requested' | 'pending' | 'approved' | 'executed' | 'rejected' | 'withdrawn' | 'lapsed' | 'failed';

export interface ExistingOperation {
  readonly phase: Phase;
  readonly facts: Requested;
  /** The approval, rejection, withdrawal or confirmation. */
  readonly decision: DecisionFacts | null;
  readonly executed: ExecutedFacts | null;
  readonly failure: Failed | null;
}

/** One operation; the stream is `operation-<id>` (ADR 176). */
export type OperationState = { readonly phase: 'none' } | ExistingOperation;

export function isApprovedFirst({ approval, second_person }: Requested): boolean {
  return approval === 'required' && second_person === 'before';
}

const CHANGES: Changes<ExistingOperation, OperationEvent> = {
  'operation.requested.v1': (facts) => ({
    phase: isApprovedFirst(facts) ? 'pending' : 'requested',
    ...{ facts, decision: null, executed: null, failure: null },
  }),
  'operation.approved.v1': (decision) => ({ phase: 'approved', decision }),
  'operation.rejected.v1': (decision) => ({ phase: 'rejected', decision }),
  'operation.withdrawn.v1': (decision) => ({ phase: 'withdrawn', decision }),
  'operation.confirmed.v1': (decision) => ({ decision }),
  'operation.executed.v1': (executed) => ({ phase: 'executed', executed }),
  'operation.failed.v1': (failure) => ({ phase: 'failed', failure }),
  'operation.lapsed.v1': () => ({ phase: 'lapsed' }),
};

export const operation: Aggregate<OperationState, OperationEvent> = {
  category: 'operation',
  initial: { phase: 'none' },
  evolve: (state, event) =>
    state.phase === 'none' && event.type !== 'operation.requested.v1'
      ? state
      : withChanges(CHANGES, event, state as ExistingOperation),
};

export function existingOperation(state: OperationState): ExistingOperation {
  if (state.phase === 'none') throw DomainError.notFound('Operation');
  return state;
}

export function isUnfinished({ phase }: OperationState): boolean {
  return phase === 'requested' || phase === 'approved';
}

function isUnconfirmed({ phase, facts, decision }: ExistingOperation): boolean {
  const needsConfirmation = facts.approval === 'required' && facts.second_person === 'after';
  return phase === 'executed' && needsConfirmation && decision === null;
}

/** The status that the admin API displays (admin-api.md 4). */
export function toStatus(state: ExistingOperation) {
  const { phase } = state;
  if (isUnconfirmed(state)) return 'unconfirmed';
  // An approved operation is displayed as pending until its execution ends, even across a crash.
  return phase === 'requested' || phase === 'pending' || phase === 'approved' ? 'pending_approval' : phase;
}

/** The time for an approval before the execution, and for a confirmation after it. */
const EXPIRES_AFTER_MS = { before: 72 * HOUR_MS, after: 24 * HOUR_MS };

/** Adds `approval` and `expires_at`, which depend on `second_person` and on the setting for approvals. */
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

export function requestOperation(facts: Requested, state: OperationState): OperationEvent[] {
  return state.phase === 'none' ? [{ type: 'operation.requested.v1', data: facts }] : [];
}

function decided({ phase }: ExistingOperation): DomainError {
  const words = phase === 'pending' ? 'waiting for its approval' : phase;
  return new DomainError('invalid_transition', `The operation is ${words}`);
}

/**
 * Decides on an open operation; a repeat changes nothing. A pending operation past `expires_at` lapses
 * instead. Throws `forbidden` for the shell and for a requester who does not reject, or `invalid_transition`.
 */
function decide(
  decision: DecisionFacts,
  state: OperationState,
  isOpen: (found: ExistingOperation) => boolean,
  verb: 'approve' | 'reject' | 'confirm',
): OperationEvent[] {
  const found = existingOperation(state);
  const { decided_by, decision_id } = decision;
  const { operator_id: person } = decided_by;
  if (person === null) throw new DomainError('forbidden', 'Only a person decides on operations');
  if (decision_id !== undefined && decision_id === found.decision?.decision_id) return [];
  if (!isOpen(found)) throw decided(found);
  const lapsed = lapseOperation(decision, state);
  const isOwn = person === found.facts.requested_by.operator_id;
  if (lapsed.length > 0) return lapsed;
  if (verb === 'reject')
    return [{ type: isOwn ? 'operation.withdrawn.v1' : 'operation.rejected.v1', data: decision }];
  if (isOwn) throw new DomainError('forbidden', `Another person must ${verb} this operation`);
  const type = verb === 'approve' ? 'operation.approved.v1' : 'operation.confirmed.v1';
  return [{ type, data: decision }];
}

const isPending = ({ phase }: ExistingOperation): boolean => phase === 'pending';

export function approveOperation(decision: DecisionFacts, state: OperationState): OperationEvent[] {
  return decide(decision, state, isPending, 'approve');
}

/** Rejects an operation, or withdraws it if the person requested it. */
export function rejectOperation(decision: DecisionFacts, state: OperationState): OperationEvent[] {
  return decide(decision, state, isPending, 'reject');
}

/** Confirms an executed operation, also after its deadline. */
export function confirmOperation(decision: DecisionFacts, state: OperationState): OperationEvent[] {
  return decide(decision, state, isUnconfirmed, 'confirm');
}

/** Records an execution once. Throws `invalid_transition` unless the phase is `requested` or `approved`. */
export function recordExecuted(executed: ExecutedFacts, state: OperationState): OperationEvent[] {
  const found = existingOperation(state);
  if (found.phase === 'executed') return [];
  if (!isUnfinished(found)) throw decided(found);
  return [{ type: 'operation.executed.v1', data: executed }];
}

/** Records the failure of a pending or unfinished operation; has no effect in another phase. */
export function recordFailed(failed: Failed, state: OperationState): OperationEvent[] {
  const found = existingOperation(state);
  const mayFail = isUnfinished(found) || found.phase === 'pending';
  return mayFail ? [{ type: 'operation.failed.v1', data: failed }] : [];
}

/** Records the lapse of a pending operation that is past `expires_at`; changes nothing otherwise. */
export function lapseOperation(
  { operation_id, at }: Pick<DecisionFacts, 'operation_id' | 'at'>,
  state: OperationState,
): OperationEvent[] {
  const { phase, facts } = existingOperation(state);
  const isDue =
    phase === 'pending' && facts.expires_at !== null && Date.parse(at) >= Date.parse(facts.expires_at);
  return isDue ? [{ type: 'operation.lapsed.v1', data: { operation_id, at } }] : [];
}

/** The rules of an audit: no operation is executed twice or without its second person. */
export const operationHistory = historyRules(
  operation,
  {
    'operation.requested.v1': (data, state) =>
      state.phase === 'none' ? requestOperation(data, state) : 'the operation is requested once',
    'operation.approved.v1': approveOperation,
    'operation.rejected.v1': rejectOperation,
    'operation.withdrawn.v1': rejectOperation,
    'operation.confirmed.v1': confirmOperation,
    'operation.executed.v1': recordExecuted,
    'operation.failed.v1': recordFailed,
    'operation.lapsed.v1': lapseOperation,
  },
  {
    id: 'operation_id',
    // No later event depends on the dropped fields.
    remember: (state) =>
      state.phase === 'none'
        ? state
        : { ...state, facts: { ...state.facts, parameters: {}, reason: '', ticket: null }, executed: null },
  },
);

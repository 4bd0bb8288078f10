import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { HOUR_MS } from '../../../kernel/clock.js';
import { historyRules } from '../../../kernel/history-rules.js';

/** The person who requested or decided an operation (admin-api.md 4). */
export interface PersonFacts {
  /** The operator, or null for the shell of the machine. */
  readonly operator_id: string | null;
  readonly name: string;
  readonly role: string | null;
  readonly credential_id: string | null;
  readonly address: string | null;
  /** The session of the console, if any. */
  readonly session_id?: string;
}

export interface Requested {
  readonly operation_id: string;
  readonly name: string;
  readonly subject: { readonly kind: string; readonly id: string; readonly revision: number | null };
  /** JSON, without personal data and secrets. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly ticket: string | null;
  readonly merchant_id: string | null;
  readonly approval: 'none' | 'required' | 'off';
  /** The time of the second person's decision: before the execution, after it, or null for none. */
  readonly second_person: 'before' | 'after' | null;
  readonly requested_by: PersonFacts;
  readonly requested_at: string;
  /** An approval comes before; a confirmation after it is overdue. Null: none is needed. */
  readonly expires_at: string | null;
}

export interface DecisionFacts {
  readonly operation_id: string;
  readonly decided_by: PersonFacts;
  readonly reason: string;
  /** Names the request, whose repeat finds it again. Absent in events of earlier versions. */
  readonly decision_id?: string;
  readonly at: string;
}

/** An event that the operation wrote. */
export interface Change {
  readonly stream: string;
  readonly event_id: string;
  readonly type: string;
}

interface ExecutedFacts {
  readonly operation_id: string;
  readonly changes: readonly Change[];
  readonly at: string;
}

interface Failed {
  readonly operation_id: string;
  /** `changed`: the subject is no longer at its revision; else the code of the error. */
  readonly code: string;
  readonly message: string;
  readonly at: string;
}

export type OperationEvent =
  | DomainEvent<'operation.requested.v1', Requested>
  | DomainEvent<'operation.approved.v1', DecisionFacts>
  | DomainEvent<'operation.rejected.v1', DecisionFacts>
  | DomainEvent<'operation.withdrawn.v1', DecisionFacts>
  | DomainEvent<'operation.confirmed.v1', DecisionFacts>
  | DomainEvent<'operation.executed.v1', ExecutedFacts>
  | DomainEvent<'operation.failed.v1', Failed>
  | DomainEvent<'operation.lapsed.v1', Pick<DecisionFacts, 'operation_id' | 'at'>>;

/**
 * `approved`, and `requested` where no approval is needed first: it is to be executed. `pending`: it waits for its approval.
 * The others are statuses of admin-api.md 4.
 */
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

export const operation: Aggregate<OperationState, OperationEvent> = {
  category: 'operation',
  initial: { phase: 'none' },
  evolve(state, event) {
    if (event.type === 'operation.requested.v1') {
      const { approval, second_person } = event.data;
      const phase = approval === 'required' && second_person === 'before' ? 'pending' : 'requested';
      return { phase, facts: event.data, decision: null, executed: null, failure: null };
    }
    if (state.phase === 'none') return state;
    switch (event.type) {
      case 'operation.approved.v1':
        return { ...state, phase: 'approved', decision: event.data };
      case 'operation.rejected.v1':
        return { ...state, phase: 'rejected', decision: event.data };
      case 'operation.withdrawn.v1':
        return { ...state, phase: 'withdrawn', decision: event.data };
      case 'operation.confirmed.v1':
        return { ...state, decision: event.data };
      case 'operation.executed.v1':
        return { ...state, phase: 'executed', executed: event.data };
      case 'operation.failed.v1':
        return { ...state, phase: 'failed', failure: event.data };
      case 'operation.lapsed.v1':
        return { ...state, phase: 'lapsed' };
      default:
        event satisfies never;
        return state;
    }
  },
};

/** Throws `not_found`. */
export function existingOperation(state: OperationState): ExistingOperation {
  if (state.phase === 'none') throw DomainError.notFound('Operation');
  return state;
}

/** It is to be executed: nothing is awaited, and it has neither been executed nor failed. */
export function isUnfinished({ phase }: OperationState): boolean {
  return phase === 'requested' || phase === 'approved';
}

/** It was executed at once, and another person has not confirmed it. */
function isUnconfirmed(state: ExistingOperation): boolean {
  const { approval, second_person } = state.facts;
  return (
    state.phase === 'executed' &&
    approval === 'required' &&
    second_person === 'after' &&
    state.decision === null
  );
}

/** The status that the admin API displays (admin-api.md 4). */
export function toStatus(state: ExistingOperation) {
  const { phase } = state;
  if (isUnconfirmed(state)) return 'unconfirmed';
  // An approved operation is pending until a killed process is replaced; then it is executed or has failed.
  return phase === 'requested' || phase === 'pending' || phase === 'approved' ? 'pending_approval' : phase;
}

/** The times after which an approval expires and a confirmation is overdue. */
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
export function requestOperation(facts: Requested, state: OperationState): OperationEvent[] {
  return state.phase === 'none' ? [{ type: 'operation.requested.v1', data: facts }] : [];
}

function decided({ phase }: ExistingOperation): DomainError {
  const words = phase === 'pending' ? 'waiting for its approval' : phase;
  return new DomainError('invalid_transition', `The operation is ${words}`);
}

function requireOther(isOwn: boolean, verb: 'approve' | 'confirm'): void {
  if (isOwn) throw new DomainError('forbidden', `Another person must ${verb} this operation`);
}

/**
 * Decides on an operation that is open; a repeat of the same request changes nothing. After `expires_at` one that waits
 * lapses instead. Throws `forbidden` for the shell, `invalid_transition` for what is decided.
 */
function decide(
  decision: DecisionFacts,
  state: OperationState,
  isOpen: (found: ExistingOperation) => boolean,
  next: (isOwn: boolean) => `operation.${'approved' | 'rejected' | 'withdrawn' | 'confirmed'}.v1`,
): OperationEvent[] {
  const found = existingOperation(state);
  const { decided_by, decision_id } = decision;
  const { operator_id: person } = decided_by;
  if (person === null) throw new DomainError('forbidden', 'Only a person decides on operations');
  if (decision_id !== undefined && decision_id === found.decision?.decision_id) return [];
  if (!isOpen(found)) throw decided(found);
  const lapsed = lapseOperation(decision, state);
  const isOwn = person === found.facts.requested_by.operator_id;
  return lapsed.length > 0 ? lapsed : [{ type: next(isOwn), data: decision }];
}

const isPending = ({ phase }: ExistingOperation): boolean => phase === 'pending';

/** Throws `forbidden` for one's own. */
export function approveOperation(decision: DecisionFacts, state: OperationState): OperationEvent[] {
  return decide(decision, state, isPending, (isOwn) => {
    requireOther(isOwn, 'approve');
    return 'operation.approved.v1';
  });
}

/** One's own is withdrawn. */
export function rejectOperation(decision: DecisionFacts, state: OperationState): OperationEvent[] {
  return decide(decision, state, isPending, (isOwn) =>
    isOwn ? 'operation.withdrawn.v1' : 'operation.rejected.v1',
  );
}

/** However late. Throws `forbidden` for one's own. */
export function confirmOperation(decision: DecisionFacts, state: OperationState): OperationEvent[] {
  return decide(decision, state, isUnconfirmed, (isOwn) => {
    requireOther(isOwn, 'confirm');
    return 'operation.confirmed.v1';
  });
}

/** A repeat changes nothing. Throws `invalid_transition` for what may not be executed. */
export function recordExecuted(executed: ExecutedFacts, state: OperationState): OperationEvent[] {
  const found = existingOperation(state);
  if (found.phase === 'executed') return [];
  if (!isUnfinished(found)) throw decided(found);
  return [{ type: 'operation.executed.v1', data: executed }];
}

/**
 * Records a failure; does nothing to an ended operation. A waiting one fails where its requester lost the right to it.
 */
export function recordFailed(failed: Failed, state: OperationState): OperationEvent[] {
  const found = existingOperation(state);
  const mayFail = isUnfinished(found) || found.phase === 'pending';
  return mayFail ? [{ type: 'operation.failed.v1', data: failed }] : [];
}

/** Only once `expires_at` is past, and without effect on what is decided. */
export function lapseOperation(
  { operation_id, at }: Pick<DecisionFacts, 'operation_id' | 'at'>,
  state: OperationState,
): OperationEvent[] {
  const { phase, facts } = existingOperation(state);
  const isDue =
    phase === 'pending' && facts.expires_at !== null && Date.parse(at) >= Date.parse(facts.expires_at);
  return isDue ? [{ type: 'operation.lapsed.v1', data: { operation_id, at } }] : [];
}

/** The rules of an audit: no operation is executed without its second person, or twice. */
export const operationHistory = historyRules(
  operation,
  {
    'operation.requested.v1': (data, state) =>
      state.phase === 'none' ? requestOperation(data, state) : 'the operation is requested once',
    'operation.approved.v1': (data, state) => approveOperation(data, state),
    'operation.rejected.v1': (data, state) => rejectOperation(data, state),
    'operation.withdrawn.v1': (data, state) => rejectOperation(data, state),
    'operation.confirmed.v1': (data, state) => confirmOperation(data, state),
    'operation.executed.v1': (data, state) => recordExecuted(data, state),
    'operation.failed.v1': (data, state) => recordFailed(data, state),
    'operation.lapsed.v1': (data, state) => lapseOperation(data, state),
  },
  {
    id: 'operation_id',
    // The memory of a request keeps its person and its needs.
    remember: (state) =>
      state.phase === 'none'
        ? state
        : { ...state, facts: { ...state.facts, parameters: {}, reason: '', ticket: null }, executed: null },
  },
);

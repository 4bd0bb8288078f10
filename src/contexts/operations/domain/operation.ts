import type { Aggregate } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { DecisionFacts, ExecutedFacts, Failed, OperationEvent, Requested } from './operation-events.js';

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
export function isUnconfirmed(state: ExistingOperation): boolean {
  const { approval, second_person } = state.facts;
  return (
    state.phase === 'executed' &&
    approval === 'required' &&
    second_person === 'after' &&
    state.decision === null
  );
}

/** As the admin API names it (admin-api.md 4). */
type OperationStatus =
  'pending_approval' | 'executed' | 'unconfirmed' | 'rejected' | 'withdrawn' | 'lapsed' | 'failed';

const STATUS_OF: Readonly<Record<Phase, OperationStatus>> = {
  // Until a killed process is replaced; then it is executed, or has failed.
  requested: 'pending_approval',
  pending: 'pending_approval',
  approved: 'pending_approval',
  executed: 'executed',
  rejected: 'rejected',
  withdrawn: 'withdrawn',
  lapsed: 'lapsed',
  failed: 'failed',
};

export function statusOf(state: ExistingOperation): OperationStatus {
  return isUnconfirmed(state) ? 'unconfirmed' : STATUS_OF[state.phase];
}

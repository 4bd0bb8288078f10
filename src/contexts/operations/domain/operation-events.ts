import type { DomainEvent } from '../../../kernel/aggregate.js';

/** Who requested or decided an operation (admin-api.md 4). */
export interface PersonFacts {
  /** Null: the shell of the machine. */
  readonly operator_id: string | null;
  readonly name: string;
  readonly role: string | null;
  readonly credential_id: string | null;
  readonly address: string | null;
  /** Of the console; absent where it was none. */
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
  /** When another person is needed: before it is executed, or after. Null: not at all. */
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

export interface ExecutedFacts {
  readonly operation_id: string;
  readonly changes: readonly Change[];
  readonly at: string;
}

export interface Failed {
  readonly operation_id: string;
  /** `changed`: the subject is no longer at its revision; else the code of the error. */
  readonly code: string;
  readonly message: string;
  readonly at: string;
}

export type OperationRequested = DomainEvent<'operation.requested.v1', Requested>;
export type OperationApproved = DomainEvent<'operation.approved.v1', DecisionFacts>;
export type OperationRejected = DomainEvent<'operation.rejected.v1', DecisionFacts>;
export type OperationWithdrawn = DomainEvent<'operation.withdrawn.v1', DecisionFacts>;
export type OperationConfirmed = DomainEvent<'operation.confirmed.v1', DecisionFacts>;
export type OperationExecuted = DomainEvent<'operation.executed.v1', ExecutedFacts>;
export type OperationFailed = DomainEvent<'operation.failed.v1', Failed>;
export type OperationLapsed = DomainEvent<
  'operation.lapsed.v1',
  { readonly operation_id: string; readonly at: string }
>;

export type OperationEvent =
  | OperationRequested
  | OperationApproved
  | OperationRejected
  | OperationWithdrawn
  | OperationConfirmed
  | OperationExecuted
  | OperationFailed
  | OperationLapsed;

/** Stored names of all events of operations. */

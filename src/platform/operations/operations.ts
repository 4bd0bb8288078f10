import type { IdempotencyTicket } from '../idempotency/ticket.js';
import type { DisplayedOperation } from './displayed-operation.js';
import type { AnyCommand } from './operation.js';

/** The person who requests or decides an operation (`requested_by`, `decided_by` of admin-api.md 4). */
export interface Requester {
  /** The operator, or null for the shell of the machine. */
  readonly operatorId: string | null;
  /** The operator's name, or `shell`. */
  readonly name: string;
  readonly role: string | null;
  /** The admin key; null for a session of the console and for the shell. */
  readonly credentialId: string | null;
  readonly address: string | null;
  /** The session of the console, if any. It is recorded and never displayed. */
  readonly sessionId?: string | null;
  /** The scopes that the person has now with this credential. */
  readonly scopes: ReadonlySet<string>;
  /** Ids of the merchants it is confined to; null: all. */
  readonly merchants: readonly string[] | null;
}

/** The shell may request everything, and decide nothing: it is no person. */
export const SHELL: Omit<Requester, 'scopes'> = {
  operatorId: null,
  name: 'shell',
  role: null,
  credentialId: null,
  address: null,
  merchants: null,
};

export interface OperationRequest {
  /** The revision of the subject as the operator read it; null where it has none or does not exist yet. */
  readonly revision: number | null;
  readonly reason: string;
  readonly ticket: string | null;
  readonly requester: Requester;
  /** The merchant whose data the operation changes, or null. */
  readonly merchantId: string | null;
  /** The ticket of an Idempotency-Key. Requests with one ticket are one operation. */
  readonly idempotency?: Pick<IdempotencyTicket, 'id'>;
}

/** An operation as the admin API displays it (admin-api.md 4). */
export type OperationJson = Readonly<DisplayedOperation>;

export interface OperationOutcome {
  readonly operation: OperationJson;
  /** The result of the handler's `execute` or `follow`. */
  readonly result: object;
}

/** Every write of an operator (admin-api.md 4), from the admin API, the console and programs. The operations context provides it. */
export abstract class Operations {
  /**
   * Records the operation and executes it, or has it wait for a second person (`pending_approval`). Throws DomainError:
   * `forbidden` naming a scope that the requester lacks, `precondition_failed` for another revision, `not_found`, and what
   * the handler throws: then the operation is recorded as failed.
   */
  abstract request(command: AnyCommand, request: OperationRequest): Promise<OperationOutcome>;
  /** The revision of a subject by the streams of its operations; null where none of them exists. */
  abstract findRevision(streams: readonly string[]): Promise<number | null>;
}

import type { IdempotencyTicket } from '../idempotency/ticket.js';
import type { DisplayedOperation } from './displayed-operation.js';
import type { AnyCommand } from './operation.js';

/** Who requests or decides an operation (`requested_by`, `decided_by` of admin-api.md 4). */
export interface Requester {
  /** Null: the shell of the machine. */
  readonly operatorId: string | null;
  /** The operator's name, or `shell`. */
  readonly name: string;
  readonly role: string | null;
  /** Of the admin key; null for a session of the console, and for the shell. */
  readonly credentialId: string | null;
  readonly address: string | null;
  /** Of the console; absent or null: none. It is recorded and not displayed. */
  readonly sessionId?: string | null;
  /** What the person may do with this credential now. */
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
  /** Whose merchant's data it changes; null where it is of no merchant. */
  readonly merchantId: string | null;
  /** Under an Idempotency-Key it is one operation, however often it is requested. */
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
  abstract revisionOf(streams: readonly string[]): Promise<number | null>;
}

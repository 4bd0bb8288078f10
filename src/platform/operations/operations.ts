import type { IdempotencyTicket } from '../idempotency/ticket.js';
import type { DisplayedOperation } from './displayed-operation.js';
import type { AnyCommand } from './operation.js';

/** A person who requests or decides an operation (`requested_by`, `decided_by` of admin-api.md 4). */
export interface Requester {
  /** The operator; null for the shell of the machine. */
  readonly operatorId: string | null;
  readonly name: string;
  readonly role: string | null;
  /** The admin key; null for a session of the console and for the shell. */
  readonly credentialId: string | null;
  readonly address: string | null;
  /** The session of the console, which is recorded and never displayed. */
  readonly sessionId?: string | null;
  /** The present scopes of the person with this credential. */
  readonly scopes: ReadonlySet<string>;
  /** The merchants within reach; null for all. */
  readonly merchants: readonly string[] | null;
}

/** The shell can request any operation but cannot approve one. */
export const SHELL: Omit<Requester, 'scopes'> = {
  operatorId: null,
  name: 'shell',
  role: null,
  credentialId: null,
  address: null,
  merchants: null,
};

export interface OperationRequest {
  /** The revision of the subject that the operator read; null if the subject has none or does not exist. */
  readonly revision: number | null;
  readonly reason: string;
  readonly ticket: string | null;
  readonly requester: Requester;
  /** The merchant whose data the operation changes, or null. */
  readonly merchantId: string | null;
  /** The ticket of the Idempotency-Key. Requests with the same ticket are one operation. */
  readonly idempotency?: Pick<IdempotencyTicket, 'id'>;
}

export type OperationJson = Readonly<DisplayedOperation>;

export interface OperationOutcome {
  readonly operation: OperationJson;
  /** The result of the handler's `execute` or `follow`. */
  readonly result: object;
}

/** The writes of operators from admin API, console and CLI, implemented by the operations context. */
export abstract class Operations {
  /**
   * Records and executes the operation, unless it waits for a second person. Throws `forbidden`, `not_found`,
   * and `precondition_failed` for another revision. Handler errors are recorded and thrown.
   */
  abstract request(command: AnyCommand, request: OperationRequest): Promise<OperationOutcome>;
  /** Returns the revision of a subject by its streams; null where none of them exists. */
  abstract findRevision(streams: readonly string[]): Promise<number | null>;
}

/** The present scopes of persons, provided by the access context. */
export abstract class OperatorDirectory {
  /** The scopes of the shell of the machine. */
  abstract readonly allScopes: ReadonlySet<string>;
  /** Reads a person's scopes from the events. Returns null for an unknown or disabled person. */
  abstract findScopes(operatorId: string): Promise<ReadonlySet<string> | null>;
}

/** Records reads of merchants' data by operators, for the portal (admin-api.md 6). */
export abstract class OperatorLookups {
  /** Records a read before its response. `subject` is `payout <id>` or `payouts`, for example. */
  abstract record(
    caller: Pick<Requester, 'operatorId' | 'name'>,
    merchantIds: readonly string[],
    subject: string,
  ): Promise<void>;
}

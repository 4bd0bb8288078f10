import type { IdempotencyTicket } from '../idempotency/ticket.js';
import type { DisplayedOperation } from './displayed-operation.js';
import type { AnyCommand } from './operation.js';

/** A person who requests or decides an operation (`requested_by`, `decided_by` of admin-api.md 4). */
export interface Requester {
  /** The operator; null for the shell of the machine. */
  readonly operatorId: string | null;
  /** `shell` for the shell of the machine. */
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
  /** The revision of the subject that the operator read; null where it has none or does not exist yet. */
  readonly revision: number | null;
  readonly reason: string;
  readonly ticket: string | null;
  readonly requester: Requester;
  /** The merchant whose data the operation changes, or null. */
  readonly merchantId: string | null;
  /** The ticket; requests with the same one are one operation. */
  readonly idempotency?: Pick<IdempotencyTicket, 'id'>;
}

export type OperationJson = Readonly<DisplayedOperation>;

export interface OperationOutcome {
  readonly operation: OperationJson;
  /** The result of the handler's `execute` or `follow`. */
  readonly result: object;
}

/** Every write of an operator, from the admin API, the console and programs. The operations context provides it. */
export abstract class Operations {
  /**
   * Records the operation and executes it, unless it waits for a second person (`pending_approval`). Throws
   * DomainError: `forbidden` for a missing scope, `precondition_failed` for another revision, and `not_found`. Errors
   * of the handler are recorded as a failure and thrown.
   */
  abstract request(command: AnyCommand, request: OperationRequest): Promise<OperationOutcome>;
  /** Returns the revision of a subject by its streams; null where none of them exists. */
  abstract findRevision(streams: readonly string[]): Promise<number | null>;
}

/** The present scopes of persons. The access context provides them. */
export abstract class OperatorDirectory {
  /** The scopes of the shell of the machine. */
  abstract readonly allScopes: ReadonlySet<string>;
  /** Reads the person's events. Returns null for an unknown or disabled person. */
  abstract findScopes(operatorId: string): Promise<ReadonlySet<string> | null>;
}

/** Records reads of merchants' data by operators, for the portal (admin-api.md 6). The operations context provides it. */
export abstract class OperatorLookups {
  /** `subject` is `payout <id>` or `payouts`, for example. The read waits for its record. */
  abstract record(
    caller: Pick<Requester, 'operatorId' | 'name'>,
    merchantIds: readonly string[],
    subject: string,
  ): Promise<void>;
}

import type { InjectionToken } from '@nestjs/common';
import type { JsonObject } from '../event-store/port.js';
import type { Requester } from './operations.js';

/** Returns a provider of the running service. */
export type Get = <T>(token: InjectionToken<T>) => T;

/** An operation whose change is to be written. */
export interface RunningOperation<Parameters extends object = JsonObject> {
  readonly id: string;
  readonly subjectId: string;
  readonly parameters: Parameters;
  readonly reason: string;
  /** Null: the shell of the machine. */
  readonly operatorId: string | null;
  /** The operator's name, or `shell`. */
  readonly actor: string;
  /** When it was requested, ISO 8601. */
  readonly requestedAt: string;
}

/**
 * Something that operators may do (admin-api.md 4). A context declares its own in `operations`; controllers and programs
 * request them from {@link Operations} by name.
 */
export interface OperationDefinition<Parameters extends object = JsonObject> {
  /** `<resources>.<verb>`, as `merchants.suspend`. */
  readonly name: string;
  /** Requesting, approving, rejecting and confirming it need this scope, but for {@link own}. */
  readonly scope: string;
  /** The kind of its subject, as `merchant`. */
  readonly subject: string;
  /** Streams whose events are the revision of the subject: none where it has no revision. */
  readonly streams: (subjectId: string, parameters: Parameters) => readonly string[];
  /**
   * `before`: another person approves it, then it is executed. `after`: it is executed at once, and another person confirms
   * it. Absent, or null: one person is enough.
   */
  readonly secondPerson?:
    | 'before'
    | 'after'
    | null
    | ((parameters: Parameters, get: Get, subjectId: string) => Promise<'before' | null>);
  /** Scopes that it gives to somebody: who requests or approves it needs them. */
  readonly gives?: (parameters: Parameters, get: Get, subjectId: string) => Promise<readonly string[]>;
  /**
   * Whether it is the requester's own: then {@link scope} is not needed to request it, and the merchants of the requester do
   * not matter. Throws `forbidden` for another person's, and for what would exceed the requester's credential.
   */
  readonly own?: (
    requester: Pick<Requester, 'operatorId' | 'credentialId'>,
    parameters: Parameters,
    get: Get,
    subjectId: string,
  ) => Promise<boolean>;
  /** Throws DomainError for what the operation may not be requested with; nothing was recorded then. */
  readonly check?: (parameters: Parameters, get: Get, subjectId: string) => Promise<void>;
  /**
   * While a second person is awaited: what is there already, and ineffective (a pending credential). Its result is in the
   * response. It may be called again; where no second person is awaited it is not called.
   */
  readonly prepare?: (operation: RunningOperation<Parameters>, get: Get) => Promise<object>;
  /** Undoes {@link prepare} where the operation is rejected, withdrawn, lapsed or failed. */
  readonly discard?: (operation: RunningOperation<Parameters>, get: Get) => Promise<void>;
  /**
   * Writes the change, by commands: their events name the operation as their cause. It may be called again after a crash:
   * with nothing written to the streams of its subject, or, where it has no streams, with the change written or not. Its
   * result is for the response and is not recorded.
   */
  readonly execute: (operation: RunningOperation<Parameters>, get: Get) => Promise<object | void>;
  /** How long {@link execute} may take before another process executes it again; 10 seconds when absent. */
  readonly takesMs?: number;
  /**
   * The result of {@link execute} again, once the change is written, for who requested or who approved it: for a repeat
   * after a crash. Absent: `{}`.
   */
  readonly repeat?: (
    operation: RunningOperation<Parameters>,
    get: Get,
    by: 'requester' | 'approver',
  ) => Promise<object>;
}

/** Returns the definition as an entry of a context's declaration; it exists to check the type. */
export function defineOperation<Parameters extends object = JsonObject>(
  definition: OperationDefinition<Parameters>,
): OperationDefinition {
  return definition as unknown as OperationDefinition;
}

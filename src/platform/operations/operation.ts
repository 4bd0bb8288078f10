import { Command } from '@nestjs/cqrs';
import type { Requester } from './operations.js';

interface RunningOperation {
  readonly id: string;
  readonly reason: string;
  /** The name of the operator who requested it, or `shell`. */
  readonly actor: string;
}

export type EmptyParameters = Readonly<Record<string, never>>;

/**
 * A write of an operator (admin-api.md 4). Its parameters are recorded, without personal data and secrets. They are JSON:
 * undefined members are dropped, and times are texts.
 */
export abstract class OperatorCommand<
  Parameters extends object = EmptyParameters,
  Result extends object | void = void,
> extends Command<Result> {
  readonly parameters: Parameters;
  /** The recorded operation, or null before it is recorded. */
  readonly operation: RunningOperation | null;

  constructor(
    readonly subjectId: string,
    ...[parameters, operation]: EmptyParameters extends Parameters
      ? [parameters?: Parameters, operation?: RunningOperation]
      : [parameters: Parameters, operation?: RunningOperation]
  ) {
    super();
    this.parameters = JSON.parse(JSON.stringify(parameters ?? {})) as Parameters;
    this.operation = operation ?? null;
  }
}

export type AnyCommand = OperatorCommand<object, object | void>;

export interface OperationFacts<Parameters extends object = never> {
  /** `<resources>.<verb>`, as `merchants.suspend`. */
  readonly name: string;
  /** The scope for a request and for a decision; see {@link OperationHandler.own}. */
  readonly scope: string;
  /** The kind of its subject, as `merchant`. */
  readonly subject: string;
  /** Returns the streams whose revisions form the revision of the subject; none if it has no revision. */
  readonly streams: (subjectId: string, parameters: Parameters) => readonly string[];
  /**
   * `before`: another person approves the operation before its execution. `after`: another person confirms it afterwards.
   * `depends`: `secondPerson` of the handler decides. Absent: one person is enough.
   */
  readonly secondPerson?: 'before' | 'after' | 'depends';
  /** The time after which another process retries the execution; 10 seconds when absent. */
  readonly takesMs?: number;
}

type OperationType = new (...given: never[]) => AnyCommand;

/** The operations of the loaded modules, by their command class. */
export const OPERATIONS = new Map<OperationType, OperationFacts>();

/** Declares a command as an operation. An {@link OperationHandler} has to be a provider, also in programs. */
export function Operation<Parameters extends object = object>(facts: OperationFacts<Parameters>) {
  return (type: new (...given: never[]) => OperatorCommand<Parameters, object | void>): void =>
    void OPERATIONS.set(type, facts);
}

/** The `@CommandHandler` of an operation. Only `execute` is required. */
export interface OperationHandler<Of extends AnyCommand> {
  /**
   * Writes the change. On a retry after a crash, the subject's streams are still unwritten; without streams, the
   * change may already be written. The result is for the response and is not recorded.
   */
  execute(command: Of): Promise<Of extends Command<infer Result> ? Result : never>;
  /** Decides whether these parameters need a second person; required for `depends`. */
  secondPerson?(command: Of): Promise<'before' | null>;
  /** Returns the scopes that the operation adds to a person; requester and approver need them. */
  grants?(command: Of): Promise<readonly string[]>;
  /**
   * Returns true if the requester owns the subject, and so needs neither the scope nor reach to its merchant. Throws
   * `forbidden` for the subject of another person, and for terms that exceed the requester's credential.
   */
  own?(command: Of, requester: Pick<Requester, 'operatorId' | 'credentialId'>): Promise<boolean>;
  /** Throws DomainError for an inadmissible request, which is not recorded. */
  check?(command: Of): Promise<void>;
  /**
   * Prepares a pending operation, for example by a pending credential. Undoes this if the operation ends unexecuted.
   * Once it is executed, returns the result for a repeated request. May be called several times per status.
   */
  follow?(command: Of, status: OperationProgress): Promise<object>;
}

export interface OperationProgress {
  /** `ended`: rejected, withdrawn, lapsed or failed. */
  readonly status: 'pending' | 'executed' | 'ended';
  /** The recipient of the result. */
  readonly by: 'requester' | 'approver';
}
